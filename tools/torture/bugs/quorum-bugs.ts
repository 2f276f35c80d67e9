// Bugs of the coordinator: counting, writing back, and answers to clients. Pure.
import { lostAnswers } from '../scenarios/move-scenarios.ts';
import { burst, halfWritten, missedWrite } from '../scenarios/quorum-scenarios.ts';
import { wipedDevice } from '../scenarios/repair-scenarios.ts';
import { scannedPages } from '../scenarios/scan-scenarios.ts';
import type { SeededBug } from './seeded-bug.ts';

const coordinate = 'packages/server/src/coordinate/coordinate.ts';
const quorumWrite = 'packages/server/src/coordinate/quorum-write.ts';

export const quorumBugs: readonly SeededBug[] = [
  {
    name: 'write-quorum-short',
    about: 'a write is acknowledged by one slot fewer than its level needs',
    nemeses: [halfWritten],
    file: coordinate,
    find: 'quorumWriteFor(ports.devices, { active, slots, record, needed },',
    replace: 'quorumWriteFor(ports.devices, { active, slots, record, needed: needed - 1 },',
  },
  {
    name: 'page-skips-longer-keys',
    about:
      'a page of a scan begins behind all keys that begin with the last one of the page before',
    nemeses: [scannedPages],
    file: 'packages/base/src/key-bounds.ts',
    find: 'Buffer.concat([key, Buffer.alloc(1)])',
    replace: 'Buffer.concat([key, Buffer.from([0xff])])',
  },
  {
    name: 'batch-first-only',
    about: 'of many writes in one message only the first is stored, and all are acknowledged',
    nemeses: [burst],
    file: 'packages/server/src/replica/write-answers.ts',
    find: 'for (const [index, write] of writes.entries()) begin(write, index);',
    replace:
      "for (const [index, write] of writes.entries()) { if (index === 0) begin(write, 0); else note(index, { kind: 'stored' }); }",
  },
  {
    name: 'read-quorum-short',
    about: 'a read asks one slot, whatever its level',
    nemeses: [missedWrite],
    file: coordinate,
    find: 'quorumRead(devices, { active, partition, key, slots, needed, own })',
    replace: 'quorumRead(devices, { active, partition, key, slots, needed: 1 })',
  },
  {
    name: 'errors-count-as-absent',
    about: 'a device that cannot be read counts as one that has no record',
    nemeses: [wipedDevice],
    file: 'packages/server/src/coordinate/quorum-read.ts',
    find: 'isWhole(index, hasRecord) ? record(device) : stamp(device);',
    replace:
      'Promise.resolve(isWhole(index, hasRecord) ? record(device) : stamp(device)).catch(() => null);',
  },
  {
    name: 'newer-stamp-ignored',
    about: 'a read gives the record it has when another device told a newer stamp',
    nemeses: [missedWrite],
    file: 'packages/server/src/coordinate/quorum-read.ts',
    find: 'return newest === undefined ? null :',
    replace:
      "return newest === undefined ? newestIn(answers.filter(({ answer }) => answer === null || 'value' in answer)) :",
  },
  {
    name: 'no-write-back',
    about: 'a quorum read does not write the newest record back to a quorum',
    nemeses: [halfWritten],
    file: coordinate,
    find: 'if (tallySlots(slots, acknowledged).acked >= needed) return newest;',
    replace: 'return newest;',
  },
  {
    name: 'write-back-not-awaited',
    about: 'a quorum read is answered before what it shows is at a quorum',
    nemeses: [halfWritten],
    file: coordinate,
    find: 'return quorumWrite(devices, write).then(() => newest);',
    replace: 'quorumWrite(devices, write).catch(() => 0); return newest;',
  },
  {
    name: 'unknown-called-rejected',
    about: 'a write that may be stored is reported as stored nowhere',
    nemeses: [lostAnswers],
    file: quorumWrite,
    find: "return !(error instanceof CodedError) || error.outcome !== 'not-done';",
    replace: 'return false;',
  },
  {
    name: 'session-not-read-again',
    about: 'a read at level one is answered although the session has seen more',
    nemeses: [missedWrite],
    file: 'packages/server/src/coordinate/read-in-session.ts',
    find: 'if (strength(consistency) >= strength(sureLevel)) return record;',
    replace: 'if (strength(sureLevel) >= 0) return record;',
  },
];
