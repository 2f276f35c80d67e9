// Compares one server of a ring with the head: what it has, and why it is not current. Pure.
import { counted } from '@ringwright/base/counted';
import type { Ring } from '@ringwright/ring/ring';
import type { RingStatus } from '../servers/server-status.ts';

type Same = 'disk' | 'requests' | 'rows' | 'bytes' | 'damaged' | 'fork' | 'rate' | 'lentMs';

/** Null: it has not the ring. */
export interface ServerLine extends Pick<RingStatus, Same> {
  readonly version: number | null;
  readonly id: string | null;
  readonly sinceMs: number | null;
  readonly current: boolean;
  readonly ready: boolean;
  /** By the last beacon that the server received. */
  readonly freshness: RingStatus['freshness']['state'] | null;
  /** What keeps it from being current or ready; empty: nothing. */
  readonly why: string;
  /**
   * The ring it refused last, with code and message; empty: none. Omitted if it was only older than
   * the head and the head is active: somebody pushed from an old folder.
   */
  readonly refusal: string;
}

interface Head {
  readonly ring: Pick<Ring, 'version'>;
  readonly id: string;
}

export function serverLine(status: RingStatus | Error, head: Head): ServerLine {
  if (status instanceof Error) return { ...absent, why: status.message };
  const { version, id, sinceMs, disk, requests, rows, bytes, damaged, fork } = status;
  const { rate, lentMs } = status;
  const isPast = status.refusalCode === 'RING_OLDER' && id === head.id;
  const refusal = isPast ? '' : status.refusal;
  return {
    ...{ version, id, sinceMs, disk, requests, rows, bytes, damaged, fork, refusal, rate, lentMs },
    freshness: status.freshness.state,
    current: id === head.id,
    ready: status.notReady === 0,
    why: whyNot(status, head),
  };
}

const absent: Omit<ServerLine, 'why'> = {
  ...{ version: null, id: null, sinceMs: null, disk: null, requests: [], current: false },
  ...{ ready: false, rows: 0, bytes: 0, damaged: [], fork: null, freshness: null },
  ...{ rate: null, lentMs: null, refusal: '' },
};

/** The server was restarted with --trust. */
export const unsignedText = 'its ring is unsigned: the next version must be signed';

/** Says how its ring in memory differs from the head; empty if it is the head. */
export function versionGap(status: RingStatus, { ring, id }: Head): string {
  const gap = ring.version - status.version;
  if (gap > 0) return `${gap} ${gap === 1 ? 'version' : 'versions'} behind`;
  if (gap < 0) return `ahead of this folder: version ${status.version}`;
  return status.id === id ? '' : 'another ring with this version';
}

function whyNot(status: RingStatus, head: Head): string {
  const { fork, disk, held } = status;
  const waiting = held.drops + held.quarantines;
  return [
    damageText(status),
    versionGap(status, head),
    fork?.settled === null
      ? `FORK: version ${fork.version} is also ${fork.other.slice(0, 12)}`
      : '',
    status.lacksSignature ? unsignedText : '',
    status.freshness.state === 'expired' ? 'its beacon has expired: it drops no files' : '',
    disk?.id === status.id
      ? ''
      : disk === null
        ? 'there is no version on its disk'
        : `the version on its disk is ${disk.version}`,
    status.device === null ? 'its own device is not in the ring' : '',
    status.notReady > 0 ? `${counted(status.notReady, 'partition')} not ready` : '',
    status.draining.length > 0 ? `${counted(status.draining.length, 'partition')} to drop` : '',
    waiting > 0 ? `${counted(waiting, 'drop')} held back` : '',
    ...status.failing.map(({ step, reason }) => `${step} fails: ${reason}`),
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function damageText({ damaged }: RingStatus): string {
  const [first] = damaged;
  const files = damaged.length === 1 ? 'file' : 'files';
  return first === undefined ? '' : `${damaged.length} ${files} damaged: ${first.reason}`;
}
