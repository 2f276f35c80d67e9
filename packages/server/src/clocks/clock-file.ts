// clock.json: the ms below which stamps of this device stay until the file is written again.
import { join } from 'node:path';
import { stampMsMax } from '@ringwright/base/stamp';
import { z } from 'zod';
import { readState, writeState } from '../device/state-file.ts';

const clockSchema = z.strictObject({ stampsBelowMs: z.int().min(0).max(stampMsMax) });

export interface ClockFile {
  /** 0 when there is no file yet. */
  readonly savedMs: number;
  readonly save: (ms: number) => Promise<void>;
}

/**
 * Throws DISK_FAILED if the file exists but cannot be read: with a guess, a stamp might be issued
 * twice.
 */
export async function openClockFile(directory: string): Promise<ClockFile> {
  const file = join(directory, 'clock.json');
  const saved = await readState(file, clockSchema);
  return {
    savedMs: saved?.stampsBelowMs ?? 0,
    save: (ms) => writeState(file, clockSchema, { stampsBelowMs: ms }),
  };
}
