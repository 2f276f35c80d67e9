// What a tortured server is told to suffer: a file that the runner writes and the server follows.
import fs from 'node:fs';

export interface Control {
  /** Added to the machine's clock. */
  readonly clockOffsetMs: number;
  /** Where the clock stands still; null: it goes. */
  readonly clockStandsAtMs: number | null;
  /** How long every sync of the log takes longer. */
  readonly syncDelayMs: number;
  /** The next sync of the log fails, once. */
  readonly syncFails: boolean;
  /** How much of the first WAL a power cut leaves, 0 to 1; of others other shares. */
  readonly walShare: number;
  /** The disk says that it has no room. */
  readonly diskFull: boolean;
  readonly failpoint: ArmedFailpoint | null;
}

export interface ArmedFailpoint {
  readonly name: string;
  /** kill: SIGKILL in this very place. cut: the same, and what was not synced is lost. */
  readonly action: 'kill' | 'cut';
  /** How often the place is passed unharmed before. */
  readonly passes: number;
}

export const calm: Control = {
  clockOffsetMs: 0,
  clockStandsAtMs: null,
  syncDelayMs: 0,
  syncFails: false,
  walShare: 0,
  diskFull: false,
  failpoint: null,
};

/** Names of environment variables of a tortured server. */
export const environment = {
  /** The control file. */
  control: 'RINGWRIGHT_TORTURE_CONTROL',
  /** JSON: the source patches. */
  patches: 'RINGWRIGHT_TORTURE_PATCHES',
  /** Address its connections come from, by which proxies know it. */
  source: 'RINGWRIGHT_TORTURE_SOURCE',
} as const;

export function writeControl(file: string, control: Control): void {
  // Never half there: the server reads at any time.
  fs.writeFileSync(`${file}.new`, JSON.stringify(control));
  fs.renameSync(`${file}.new`, file);
}

export function readControl(file: string): Control {
  // Our own file, written whole by writeControl.
  return JSON.parse(fs.readFileSync(file, 'utf8')) as Control;
}
