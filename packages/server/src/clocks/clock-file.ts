// clock.json: the highest ms that this device's stamps may reach before it is written again.
import { join } from 'node:path';
import { stampMsMax } from '@ringwright/base/stamp';
import { z } from 'zod';
import { readState, writeState } from '../device/state-file.ts';

const clockSchema = z.strictObject({ stampsBelowMs: z.int().min(0).max(stampMsMax) });

export interface ClockFile {
  /** 0 when there is none yet. */
  readonly savedMs: number;
  readonly save: (ms: number) => Promise<void>;
}

/** Throws DISK_FAILED when the file is there and cannot be read: a guess might issue twice. */
export async function openClockFile(directory: string): Promise<ClockFile> {
  const file = join(directory, 'clock.json');
  const saved = await readState(file, clockSchema);
  return {
    savedMs: saved?.stampsBelowMs ?? 0,
    save: (ms) => writeState(file, clockSchema, { stampsBelowMs: ms }),
  };
}
