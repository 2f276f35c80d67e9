// Runs archive-data or restore-data until it completes; the first run is killed halfway.
import path from 'node:path';
import { calm, environment, writeControl } from '../control.ts';
import { Broken, lasts } from '../nemesis.ts';
import { AGAIN_EXIT, endedWith, startCommand } from '../rings/operator.ts';
import type { Stage } from '../stage.ts';
import { archiveTuning } from '../tuning.ts';

/** Failpoints at which they die, with a part of their work done. */
type ArchivePlace = 'archive.part-saved' | 'restore.frame-written';

export const archiveDeath = (place: ArchivePlace): string => `archives: dies at ${place}`;

const AGAIN_MS = 250;

/**
 * Runs the command again after its death, and whenever servers were not reached. Returns false when
 * time was up. Throws Broken when the command fails otherwise.
 */
export async function typeUntilDone(
  stage: Stage,
  words: readonly string[],
  death: { readonly place: ArchivePlace; readonly passes: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const { place, passes, signal } = death;
  const control = path.join(stage.shape.folder, `${place}.control`);
  writeControl(control, { ...calm, failpoint: { name: place, action: 'kill', passes } });
  const { options, environment: patched } = stage.operatorNode(archiveTuning);
  const node = { options, environment: { ...patched, [environment.control]: control } };
  while (!signal.aborted) {
    const command = startCommand(stage, [...words, '--json'], node);
    const { exit, stderr } = await endedWith(signal, command);
    if (exit === 0) return true;
    // A server was asked whose clock is wrong, or whose disk was wiped with its rings and
    // documents.
    const isRefused = /CLOCK_AHEAD|RING_UNKNOWN|TOKEN_REFUSED|ACCESS_PENDING/.test(stderr);
    if (exit !== null && exit !== AGAIN_EXIT && !isRefused) {
      throw new Broken(`${words.join(' ')} ended with ${exit}: ${stderr}`);
    }
    if (exit === null && !signal.aborted) {
      await stage.fault(archiveDeath(place), [], () => Promise.resolve());
      writeControl(control, calm);
    }
    await lasts(AGAIN_MS, signal);
  }
  return false;
}
