// The faults that a tortured server suffers: a file that the runner writes and the server follows.
import fs from 'node:fs';

export interface Control {
  /** Added to the machine's clock. */
  readonly clockOffsetMs: number;
  /** The time at which the clock stands still; null: it runs. */
  readonly clockStandsAtMs: number | null;
  /** Additional duration of every sync of the log. */
  readonly syncDelayMs: number;
  /** Whether the next sync of the log fails, once. */
  readonly syncFails: boolean;
  /** The part of the first WAL that survives a power cut, 0 to 1; of other WALs other parts. */
  readonly walShare: number;
  /** Whether the disk reports that it is full. */
  readonly diskFull: boolean;
  readonly failpoint: ArmedFailpoint | null;
}

export interface ArmedFailpoint {
  readonly name: string;
  /** kill: SIGKILL at this place. cut: the same, and unsynced data is lost. */
  readonly action: 'kill' | 'cut';
  /** How often the server passes the place unharmed before. */
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

/** Names of a tortured server's environment variables. */
export const environment = {
  /** The control file. */
  control: 'RINGWRIGHT_TORTURE_CONTROL',
  /** JSON: the source patches. */
  patches: 'RINGWRIGHT_TORTURE_PATCHES',
  /** The address from which it connects, by which proxies recognize it. */
  source: 'RINGWRIGHT_TORTURE_SOURCE',
} as const;

export function writeControl(file: string, control: Control): void {
  // Replaces the file atomically: the server may read it at any time.
  fs.writeFileSync(`${file}.new`, JSON.stringify(control));
  fs.renameSync(`${file}.new`, file);
}

export function readControl(file: string): Control {
  // Our own file, written completely by writeControl.
  return JSON.parse(fs.readFileSync(file, 'utf8')) as Control;
}
