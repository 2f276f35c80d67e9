// Reads the parts of a ring's folder that have to fit together, while nobody changes them.
import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { lockPollMs, lockWaitMsMax } from '@ringwright/base/limits';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import type { RingFolder } from '../folder/ring-folder.ts';
import { lockOwner } from '../folder/ring-lock.ts';

interface AtRest {
  /** The texts of log.jsonl, empty if there is none, and of builder.json. */
  readonly log: string;
  readonly builder: string;
  /** Names of the files in versions/ and receipts/. */
  readonly versions: readonly string[];
  readonly receipts: readonly string[];
}

/**
 * Without a writer they belong to one state of the folder. With one, builder.json may follow a
 * later log line, and a version may not be in the log yet: this waits for it, for a short time.
 */
export async function readAtRest(folder: RingFolder): Promise<AtRest> {
  for (let waitedMs = 0; ; waitedMs += lockPollMs) {
    const before = await lockOwner(folder);
    const found = await read(folder);
    const after = await lockOwner(folder);
    const isAtRest = before === null && after === null && (await readLogText(folder)) === found.log;
    if (isAtRest || waitedMs >= lockWaitMsMax) return found;
    await delay(lockPollMs);
  }
}

async function read(folder: RingFolder): Promise<AtRest> {
  const versions = await namesIn(folder.versions);
  const receipts = await namesIn(folder.receipts);
  const log = await readLogText(folder);
  return { log, builder: await readRegularText(folder.builder), versions, receipts };
}

async function readLogText({ log }: RingFolder): Promise<string> {
  return (await readRegularText(log).catch(nullIfMissing)) ?? '';
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory).catch(nullIfMissing)) ?? [];
}
