// Every message at the limits of its fields: the largest value passes, and one more is refused.
import { positionBytesMax } from '@ringwright/base/key-bounds';
import {
  beaconBytesMax,
  deviceCountMax,
  keyBytesMax,
  listKeysMax,
  movesInFlightMax,
  partitionCountMax,
  ringDeltaBytesMax,
  ringFileBytesMax,
  scanPageBytesMax,
  socketMessageBytesMax,
  transferChunkBytesMax,
  trustFileBytesMax,
  ttlMsMax,
  valueBytesMax,
} from '@ringwright/base/limits';
import {
  accessDocumentBytesMax,
  auditAnswerLinesMax,
  auditLineBytesMax,
} from '@ringwright/base/limits-access';
import {
  completeWaitMsMax,
  copyRateMin,
  forceReasonCharactersMax,
  packedPartitionBytesMax,
  receiptBytesMax,
  receiptsPerAnswerMax,
  trashListMax,
} from '@ringwright/base/limits-copies';
import { batchedWritesBytesMax, batchedWritesMax } from '@ringwright/base/limits-wire';
import { stampMsMax, stampTieMax } from '@ringwright/base/stamp';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { deviceIdField, keyField } from './fields.ts';
import { damageCharactersMax, damagedFilesMax } from './files.ts';
import { joinFrame, packEnvelope, unpackFrame } from './frame.ts';
import { messageKinds } from './messages.ts';
import { digestPartitionsMax, offerRowsMax } from './replication.ts';

const kinds = messageKinds;
const id = 'a'.repeat(64);
const keyspace = `k${'-'.repeat(62)}`;
const most = Number.MAX_SAFE_INTEGER;
const about = { keyspace, ringVersion: most, partition: partitionCountMax - 1 };
const key = Buffer.alloc(keyBytesMax, 1);
const stamp = { ms: stampMsMax, tie: stampTieMax };
const content = {
  value: Buffer.alloc(valueBytesMax),
  ...stamp,
  expiresMs: stampMsMax,
  origin: stamp,
};
const record = { key, ...content };
const small = { key: key.subarray(0, 1), value: null, ms: 0, tie: 0 };
const head = { keyspace, version: most, id };
const held = { ...head, signers: 16 };
const life = { born: 'b'.repeat(64), age: Number.MAX_SAFE_INTEGER, mark: 'm'.repeat(64) };
const place = Buffer.alloc(positionBytesMax, 1);
const bounds = { from: place, to: place, reverse: true, limit: listKeysMax };
const page = { rows: Buffer.alloc(scanPageBytesMax), next: place };
const introduction = {
  wireVersion: 1,
  address: 'x'.repeat(300),
  life,
  remembered: life,
  access: { epoch: 1, version: 1 },
  settled: false,
  ms: stampMsMax,
  rings: Array(1_000).fill(held),
};
const holding = {
  incarnation: 'i'.repeat(64),
  state: 'filling',
  digest: 'f'.repeat(16),
  rows: most,
  expired: most,
  seq: most,
  floorMs: stampMsMax,
};
const dropped = {
  name: 'n'.repeat(160),
  atMs: stampMsMax,
  partition: partitionCountMax - 1,
  incarnation: 'i'.repeat(64),
  bytes: most,
};
const chunk = Buffer.alloc(transferChunkBytesMax);
const copy = 'c'.repeat(64);
const door = { port: 65_535, ticket: 'a'.repeat(64), cipherKey: null };
const manifest = {
  copy,
  sourceIncarnation: 'i'.repeat(64),
  seq: most,
  bytes: most,
  seal: id,
  rows: most,
  tombstones: most,
  digest: '0'.repeat(16),
};
const { seal: _s, ...description } = manifest;
const started = { ...description, walBytes: most, key: 'a'.repeat(32) };
const { copy: _c, bytes: _b, ...told } = description;
const records = new Uint8Array(packedPartitionBytesMax);
const packed = { ...told, barrierMs: stampMsMax, floorMs: stampMsMax, records, hasPromises: true };
const client = { keyspace, key, consistency: 'quorum', session: { ...stamp, weak: true } };
const wanted = Array.from({ length: offerRowsMax }, (_, index) => index);

type Schema = z.ZodType;
/** Name, schema, the largest possible body, and changes that make it too large or wrong. */
const cases: readonly (readonly [string, Schema, object, readonly object[]])[] = [
  [
    'hello',
    kinds.hello.request,
    introduction,
    [
      { rings: Array(1_001).fill(held) },
      { rings: [head] },
      { rings: [{ ...held, signers: 17 }] },
      { wireVersion: 0 },
      { ms: stampMsMax + 1 },
      { settled: 1 },
      { address: 'x'.repeat(301) },
      { life: { ...life, born: 'b'.repeat(65) } },
      { life: { ...life, age: -1 } },
      { life: { ...life, mark: 'm'.repeat(65) } },
      { more: 1 },
    ],
  ],
  [
    'hello answer',
    kinds.hello.answer,
    { ...introduction, life: null, remembered: null, access: null },
    [{ remembered: 7 }, { access: { version: 1 } }, { remembered: { ...life, more: 1 } }],
  ],
  [
    'ring-offer',
    kinds.ringOffer.request,
    { ...head, bytes: ringFileBytesMax, signers: 16 },
    [
      { bytes: ringFileBytesMax + 1 },
      { bytes: 0 },
      { version: 0 },
      { id: 'A'.repeat(64) },
      { signers: 17 },
    ],
  ],
  ['ring-offer answer', kinds.ringOffer.answer, { wanted: true, active: head }, [{ active: {} }]],
  [
    'ring-delta',
    kinds.ringDelta.request,
    { id, base: id, bytes: ringDeltaBytesMax },
    [{ bytes: ringDeltaBytesMax + 1 }, { bytes: 0 }, { base: null }],
  ],
  ['ring-delta answer', kinds.ringDelta.answer, {}, [{ active: null }]],
  [
    'ring-chunk',
    kinds.ringChunk.request,
    { id, offset: ringFileBytesMax, data: chunk },
    [{ data: Buffer.alloc(chunk.length + 1) }, { offset: -1 }, { data: 'text' }],
  ],
  ['ring-chunk answer', kinds.ringChunk.answer, { active: null }, [{ active: 1 }]],
  [
    'ring-fetch',
    kinds.ringFetch.request,
    { keyspace, id: null, base: head, offset: 0 },
    [{ keyspace: 'A' }, { base: id }],
  ],
  [
    'ring-fetch answer',
    kinds.ringFetch.answer,
    { version: 1, id, bytes: 1, isDelta: false, data: chunk },
    [{ version: 1.5 }, { isDelta: 1 }],
  ],
  [
    'ring-settle',
    kinds.ringSettle.request,
    { ...head, reason: 'x'.repeat(512) },
    [{ reason: '' }, { reason: 'x'.repeat(513) }, { id: 'A' }],
  ],
  ['ring-settle answer', kinds.ringSettle.answer, {}, [{ settled: true }]],
  [
    'trust-offer',
    kinds.trustOffer.request,
    {
      roots: Buffer.alloc(trustFileBytesMax),
      beacons: Array(64).fill(Buffer.alloc(beaconBytesMax)),
      access: Buffer.alloc(accessDocumentBytesMax),
    },
    [
      { roots: Buffer.alloc(trustFileBytesMax + 1) },
      { roots: Buffer.alloc(0) },
      { beacons: [Buffer.alloc(beaconBytesMax + 1)] },
      { beacons: Array(65).fill(Buffer.alloc(1)) },
      { access: Buffer.alloc(accessDocumentBytesMax + 1) },
    ],
  ],
  [
    'trust-offer answer',
    kinds.trustOffer.answer,
    { trusted: [{ cluster: 'c'.repeat(128), version: 1, epoch: most, id }] },
    [{ trusted: [{ cluster: 'c', version: 0, epoch: 1, id }] }],
  ],
  ['trust-fetch', kinds.trustFetch.request, {}, [{ keyspace }]],
  [
    'trust-fetch answer',
    kinds.trustFetch.answer,
    { roots: [Buffer.alloc(trustFileBytesMax)], beacons: [], access: null },
    [{ roots: ['text'] }],
  ],
  [
    'write',
    kinds.recordWrite.request,
    { ...about, ...record },
    [
      { key: Buffer.alloc(keyBytesMax + 1) },
      { key: Buffer.alloc(0) },
      { value: Buffer.alloc(valueBytesMax + 1) },
      { value: undefined },
      { ms: -1 },
      { tie: stampTieMax + 1 },
      { expiresMs: stampMsMax + 1 },
      { origin: { ms: 1 } },
      { partition: partitionCountMax },
      { ringVersion: 2 ** 53 },
      { keyspace: '../etc' },
      { keyspace: `${keyspace}x` },
    ],
  ],
  [
    'write answer',
    kinds.recordWrite.answer,
    { kind: 'promised', ...stamp },
    [{ kind: 'absent' }, { kind: 'stored' }],
  ],
  [
    'writes',
    kinds.recordsWrite.request,
    { keyspace, ringVersion: 1, writes: Buffer.alloc(batchedWritesBytesMax) },
    [{ writes: Buffer.alloc(0) }, { writes: Buffer.alloc(batchedWritesBytesMax + 1) }],
  ],
  [
    'writes answer',
    kinds.recordsWrite.answer,
    { kinds: Buffer.alloc(batchedWritesMax), stamps: [stamp], errors: [{ code: 'USAGE' }] },
    [{ kinds: Buffer.alloc(batchedWritesMax + 1) }, { stamps: [{ ms: 1 }] }, { errors: null }],
  ],
  ['read', kinds.recordRead.request, { ...about, key }, [{ value: null }]],
  [
    'read answer',
    kinds.recordRead.answer,
    { record: content },
    [{ record: { value: 1, ...stamp } }, { record: { ...content, expiresMs: -1 } }],
  ],
  ['stamp', kinds.recordStamp.request, { ...about, key }, [{ value: null }, { key: null }]],
  [
    'stamp answer',
    kinds.recordStamp.answer,
    { stamp },
    [{ stamp: content }, { stamp: { ...stamp, tie: -1 } }],
  ],
  ['prepare', kinds.recordPrepare.request, { ...about, key, ...stamp }, [{ tie: -1 }]],
  [
    'prepare answer',
    kinds.recordPrepare.answer,
    { kind: 'given', serves: true, record: content },
    [{ serves: null }, { kind: 'refused' }],
  ],
  [
    'digests',
    kinds.digests.request,
    { keyspace, ringVersion: 1, partitions: Array(digestPartitionsMax).fill(0), nowMs: stampMsMax },
    [{ nowMs: stampMsMax + 1 }, { partitions: Array(digestPartitionsMax + 1).fill(0) }],
  ],
  [
    'digests answer',
    kinds.digests.answer,
    { holdings: Array(digestPartitionsMax).fill(holding) },
    [{ holdings: [{ ...holding, state: 'gone' }] }, { holdings: [{ ...holding, digest: 'f' }] }],
  ],
  [
    'tail',
    kinds.tail.request,
    { ...about, rowsMax: offerRowsMax },
    [{ rowsMax: offerRowsMax + 1 }, { rowsMax: 0 }],
  ],
  [
    'tail answer',
    kinds.tail.answer,
    {
      ...{ incarnation: 'i'.repeat(64), digest: 'f'.repeat(16) },
      rows: Array(offerRowsMax).fill([key, stampMsMax, stampTieMax, 'f'.repeat(16)]),
    },
    [
      { rows: Array(offerRowsMax + 1).fill([key, 0, 0, 'f'.repeat(16)]) },
      { rows: [[key, 0, 0, 'f']] },
      { digest: '' },
    ],
  ],
  [
    'offer',
    kinds.offer.request,
    { ...about, stamps: Array(offerRowsMax).fill([key, stampMsMax, stampTieMax]) },
    [{ stamps: Array(offerRowsMax + 1).fill([key, 0, 0]) }, { stamps: [[key, 0]] }],
  ],
  [
    'offer answer',
    kinds.offer.answer,
    { incarnation: 'i', wanted },
    [{ wanted: [offerRowsMax] }, { wanted: [-1] }, { incarnation: '' }],
  ],
  [
    'push',
    kinds.push.request,
    { ...about, rows: Array(offerRowsMax).fill(small) },
    [{ rows: Array(offerRowsMax + 1).fill(small) }, { rows: [{ ...small, extra: 1 }] }],
  ],
  [
    'push answer',
    kinds.push.answer,
    { incarnation: 'i'.repeat(64), undecided: wanted },
    [{ incarnation: null }, { undecided: [offerRowsMax] }],
  ],
  [
    'promises',
    kinds.promises.request,
    { ...about, after: key },
    [{ after: Buffer.alloc(keyBytesMax + 1) }],
  ],
  [
    'promises answer',
    kinds.promises.answer,
    { keys: Array(offerRowsMax).fill(key), stamps: Array(offerRowsMax).fill([1, 0]), more: true },
    [
      { keys: Array(offerRowsMax + 1).fill(key) },
      { keys: [Buffer.alloc(0)] },
      { stamps: Array(offerRowsMax + 1).fill([1, 0]) },
      { stamps: [[stampMsMax + 1, 0]] },
    ],
  ],
  ['rows', kinds.rowsSince.request, { ...about, assignment: null, since: most }, [{ since: -1 }]],
  [
    'rows answer',
    kinds.rowsSince.answer,
    {
      incarnation: 'i',
      floorMs: stampMsMax,
      rows: [record],
      lastSeq: 0,
      more: false,
      hasPromises: null,
    },
    [{ more: null }, { floorMs: -1 }, { rows: [{ ...record, ms: 0.5 }] }, { hasPromises: 1 }],
  ],
  [
    'floor-promise',
    kinds.floorPromise.request,
    { ...about, floorMs: stampMsMax },
    [{ floorMs: stampMsMax + 1 }, { partition: -1 }],
  ],
  ['floor-promise answer', kinds.floorPromise.answer, { incarnation: 'i' }, [{ more: 1 }]],
  [
    'floor-raise',
    kinds.floorRaise.request,
    { ...about, floorMs: 0, incarnation: 'i'.repeat(64) },
    [{ incarnation: '' }, { floorMs: 0.5 }],
  ],
  ['floor-raise answer', kinds.floorRaise.answer, {}, [{ more: 1 }]],
  [
    'copy-open',
    kinds.copyOpen.request,
    { ...about, assignment: 0, device: deviceCountMax - 1 },
    [{ assignment: -1 }, { device: deviceCountMax }],
  ],
  ['copy-open answer', kinds.copyOpen.answer, manifest, [{ seal: 'g'.repeat(64) }]],
  [
    'copy-start',
    kinds.copyStart.request,
    { ...about, assignment: 0, device: deviceCountMax - 1, takesPacked: null },
    [{ device: deviceCountMax }, { takesPacked: 1 }],
  ],
  [
    'copy-start answer',
    kinds.copyStart.answer,
    { ...started, ...door },
    [{ key: 'g'.repeat(32) }, { walBytes: -1 }, { port: 0 }, { ticket: 'a'.repeat(63) }],
  ],
  [
    'copy-start answer of a small partition',
    kinds.copyStart.answer,
    packed,
    [
      { records: new Uint8Array(packedPartitionBytesMax + 1) },
      { records: 'r' },
      { hasPromises: null },
      { floorMs: -1 },
      { bytes: 1 },
    ],
  ],
  ['copy-go-on', kinds.copyGoOn.request, { copy, offset: most }, [{ offset: -1 }, { copy: '' }]],
  ['copy-go-on answer', kinds.copyGoOn.answer, door, [{ port: 65_536 }, { cipherKey: '' }]],
  ['copy-checksum', kinds.copyChecksum.request, { copy }, [{ copy: '' }, { copy: `${copy}c` }]],
  [
    'copy-checksum answer',
    kinds.copyChecksum.answer,
    { checksum: 'a'.repeat(64) },
    [{ checksum: 'g'.repeat(64) }, { checksum: '' }],
  ],
  ['copy-read', kinds.copyRead.request, { copy, offset: most, length: 0 }, [{ offset: 2 ** 53 }]],
  ['copy-read answer', kinds.copyRead.answer, { data: chunk }, [{ data: [1, 2] }]],
  ['copy-close', kinds.copyClose.request, { copy }, [{ copy: '' }, { copy: `${copy}c` }]],
  ['copy-close answer', kinds.copyClose.answer, {}, [{ copy }]],
  [
    'copy-rate',
    kinds.copyRate.request,
    { bytesPerSecond: most, loan: 'l'.repeat(64) },
    [{ bytesPerSecond: copyRateMin - 1 }, { loan: '' }, { loan: 'l'.repeat(65) }],
  ],
  ['copy-rate answer', kinds.copyRate.answer, { allowed: most, inForce: null }, [{ inForce: -1 }]],
  ['trash-list', kinds.trashList.request, { keyspace }, [{ keyspace: '' }]],
  [
    'trash-list answer',
    kinds.trashList.answer,
    { items: Array(trashListMax).fill(dropped), count: most, bytes: most },
    [{ items: [{ ...dropped, name: '' }] }, { items: Array(trashListMax + 1).fill(dropped) }],
  ],
  [
    'trash-restore',
    kinds.trashRestore.request,
    { keyspace, name: dropped.name },
    [{ name: `${dropped.name}x` }],
  ],
  [
    'trash-restore answer',
    kinds.trashRestore.answer,
    { partition: partitionCountMax - 1, rows: most, duty: 'UNLOAD' },
    [{ duty: 'DROP' }],
  ],
  [
    'confirm-drops',
    kinds.confirmDrops.request,
    { keyspace, ringId: id, count: most },
    [{ count: 0 }, { ringId: '' }],
  ],
  ['confirm-drops answer', kinds.confirmDrops.answer, { confirmed: most }, [{ confirmed: -1 }]],
  [
    'keys-after',
    kinds.keysAfter.request,
    { ...about, after: key, limit: listKeysMax, nowMs: stampMsMax },
    [
      { nowMs: undefined },
      { limit: listKeysMax + 1 },
      { limit: 0 },
      { after: Buffer.alloc(keyBytesMax + 1) },
    ],
  ],
  [
    'keys-after answer',
    kinds.keysAfter.answer,
    { keys: Array(listKeysMax).fill([key, stampMsMax, stampTieMax, true]), more: true },
    [{ keys: Array(listKeysMax + 1).fill([key, 0, 0, true]) }, { keys: [[key, 0, 0]] }],
  ],
  [
    'page-read',
    kinds.pageRead.request,
    { ...about, ...bounds, give: 'records', nowMs: stampMsMax },
    [
      { give: 'all' },
      { limit: 0 },
      { limit: listKeysMax + 1 },
      { from: null },
      { to: Buffer.alloc(positionBytesMax + 1) },
      { reverse: 1 },
    ],
  ],
  [
    'page-read answer',
    kinds.pageRead.answer,
    { ...page, gone: listKeysMax, digest: 'a'.repeat(16) },
    [{ rows: Buffer.alloc(scanPageBytesMax + 1) }, { gone: -1 }, { digest: '' }, { next: 1 }],
  ],
  [
    'coordinate-scan',
    kinds.coordinateScan.request,
    {
      ...{ keyspace, partition: 1, ...bounds, prefix: key, values: true, consistency: 'quorum' },
      arc: { start: 2 ** 32 - 1, end: 0 },
    },
    [
      ...[{ prefix: Buffer.alloc(keyBytesMax + 1) }, { values: 1 }, { consistency: 'two' }],
      { arc: { start: 2 ** 32, end: 0 } },
    ],
  ],
  [
    'coordinate-scan answer',
    kinds.coordinateScan.answer,
    { ...page, ringVersion: most },
    [{ ringVersion: 0 }, { rows: Buffer.alloc(scanPageBytesMax + 1) }],
  ],
  [
    'coordinate-put',
    kinds.coordinatePut.request,
    { ...client, value: record.value, ttlMs: ttlMsMax, condition: stamp },
    [
      { ttlMs: ttlMsMax + 1 },
      { ttlMs: 0 },
      { condition: 'new' },
      { condition: { ms: 1 } },
      { consistency: 'two' },
      { session: {} },
      { session: { ...stamp, weak: 1 } },
      { key: Buffer.alloc(0) },
      { value: Buffer.alloc(valueBytesMax + 1) },
      { keyspace: '__proto__' },
    ],
  ],
  [
    'coordinate-put answer',
    kinds.coordinatePut.answer,
    { ...stamp, origin: stamp, expiresMs: stampMsMax, ringVersion: most },
    [{ ms: -1 }, { origin: null }],
  ],
  ['coordinate-get', kinds.coordinateGet.request, client, [{ value: null }, { session: 1 }]],
  [
    'coordinate-get answer',
    kinds.coordinateGet.answer,
    { record: content, ringVersion: 1 },
    [{ ringVersion: 0 }, { record: { ...stamp } }],
  ],
  [
    'move-control',
    kinds.moveControl.request,
    {
      ...{ keyspace, action: 'force', assignments: Array(movesInFlightMax).fill(most) },
      refills: Array(movesInFlightMax).fill(partitionCountMax - 1),
      reason: 'x'.repeat(forceReasonCharactersMax),
    },
    [
      { action: 'stop' },
      { refills: Array(movesInFlightMax + 1).fill(0) },
      { refills: [-1] },
      { assignments: Array(movesInFlightMax + 1).fill(0) },
      { reason: 'x'.repeat(forceReasonCharactersMax + 1) },
    ],
  ],
  ['move-control answer', kinds.moveControl.answer, { known: most }, [{ known: -1 }]],
  [
    'move-receipts',
    kinds.moveReceipts.request,
    { keyspace, assignments: Array(receiptsPerAnswerMax).fill(most) },
    [{ assignments: Array(receiptsPerAnswerMax + 1).fill(0) }, { assignments: [-1] }],
  ],
  [
    'move-receipts answer',
    kinds.moveReceipts.answer,
    { receipts: Array(receiptsPerAnswerMax).fill(Buffer.alloc(receiptBytesMax)) },
    [{ receipts: [Buffer.alloc(receiptBytesMax + 1)] }, { receipts: [Buffer.alloc(0)] }],
  ],
  [
    'moves-complete',
    kinds.movesComplete.request,
    { keyspace, ringVersion: most, waitMs: completeWaitMsMax },
    [{ waitMs: completeWaitMsMax + 1 }, { waitMs: -1 }, { ringVersion: 0 }],
  ],
  ['moves-complete answer', kinds.movesComplete.answer, { complete: true }, [{ complete: 1 }]],
  ['files-look', kinds.filesLook.request, { keyspace }, [{ keyspace: '' }, { more: 1 }]],
  [
    'files-look answer',
    kinds.filesLook.answer,
    {
      damaged: Array(damagedFilesMax).fill({
        ...{ partition: partitionCountMax - 1, reason: 'x'.repeat(damageCharactersMax) },
      }),
      ...{ count: most, log: 'x'.repeat(damageCharactersMax) },
    },
    [
      { damaged: Array(damagedFilesMax + 1).fill({ partition: 0, reason: '' }) },
      { damaged: [{ partition: 0, reason: 'x'.repeat(damageCharactersMax + 1) }] },
      { log: 'x'.repeat(damageCharactersMax + 1) },
      { count: -1 },
    ],
  ],
  [
    'audit-read',
    kinds.auditRead.request,
    { before: most, limit: auditAnswerLinesMax },
    [{ before: 0 }, { limit: 0 }, { limit: auditAnswerLinesMax + 1 }],
  ],
  [
    'audit-read answer',
    kinds.auditRead.answer,
    { lines: Array(auditAnswerLinesMax).fill('x'.repeat(auditLineBytesMax)) },
    [
      { lines: Array(auditAnswerLinesMax + 1).fill('') },
      { lines: ['x'.repeat(auditLineBytesMax + 1)] },
    ],
  ],
];

/** Fields that most records and requests do without. */
const optional: ReadonlySet<string> = new Set(['expiresMs', 'origin', 'nowMs', 'refills']);

describe('fields at their limits', () => {
  test.each(cases)('%s takes its limits and nothing beyond', (...[, schema, largest, beyond]) => {
    const packed = packEnvelope([1, 1, largest]);
    expect(packed.length).toBeLessThan(socketMessageBytesMax);
    const [read] = unpackFrame(joinFrame([packed])) ?? [];
    expect(schema.safeParse(read?.[2]).error, 'the largest value').toBeUndefined();
    for (const change of beyond) {
      const result = schema.safeParse({ ...largest, ...change });
      expect(result.success, `with ${Object.keys(change).join()}`).toBe(false);
    }
    for (const field of Object.keys(largest).filter((name) => !optional.has(name))) {
      const without = Object.fromEntries(
        Object.entries(largest).filter(([name]) => name !== field),
      );
      expect(schema.safeParse(without).success, `without ${field}`).toBe(false);
    }
    for (const other of [null, undefined, 7, 'text', []]) {
      expect(schema.safeParse(other).success).toBe(false);
    }
  });

  test('every message is tested', () => {
    const tested = new Set(cases.map(([, schema]) => schema));
    for (const [name, { request, answer }] of Object.entries(kinds)) {
      expect([tested.has(request), tested.has(answer)], name).toEqual([true, true]);
    }
  });

  test('method names are unique', () => {
    const methods = Object.values(kinds).map(({ method }) => method);
    expect(new Set(methods).size).toBe(methods.length);
  });

  test('device ids have a limit, and text is not a key', () => {
    expect(deviceIdField.safeParse(deviceCountMax - 1).success).toBe(true);
    expect(deviceIdField.safeParse(deviceCountMax).success).toBe(false);
    expect(keyField.safeParse('a').success, 'text is no key').toBe(false);
  });
});
