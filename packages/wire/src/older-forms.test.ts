import { expect, test } from 'vitest';
import { clientHello } from './greet-server.ts';
import { messageKinds } from './messages.ts';
import { isMessageKnown, newerForm, olderForm } from './older-forms.ts';
import { oldestWireVersion, wireVersion } from './wire-version.ts';

const holding = {
  incarnation: 'i',
  state: 'lost',
  digest: '0'.repeat(16),
  rows: 0,
  seq: 1,
  floorMs: 0,
};
const loan = { bytesPerSecond: null, loan: 'a' };
const force = { keyspace: 'k', action: 'force', assignments: [], refills: [1], reason: 'r' };

/** Current bodies, which have no `access` in versions 18 to 21. */
const changed = [
  ['hello', 'request', clientHello(5)],
  ['hello', 'answer', clientHello(5)],
  ['trust-offer', 'request', { roots: null, beacons: [], access: null }],
  ['trust-fetch', 'answer', { roots: [], beacons: [], access: null }],
] as const;

test.each(changed)('%s, %s: versions 18 to 21 have no access', (method, part, body) => {
  for (const version of [18, 21]) {
    const older = olderForm({ method, part, version }, body) as object;
    expect(Object.keys(body).filter((name) => !(name in older))).toEqual(['access']);
    expect(newerForm({ method, part, version }, older)).toEqual(body);
  }
  expect(olderForm({ method, part, version: 22 }, body)).toBe(body);
  expect(newerForm({ method, part, version: 22 }, body)).toBe(body);
});

test('version 18 has no loans, no refills and no lost files', () => {
  const old = { part: 'request', version: 18 } as const;
  expect(olderForm({ ...old, method: 'copy-rate' }, loan)).toEqual({ bytesPerSecond: null });
  expect(newerForm({ ...old, method: 'copy-rate' }, { bytesPerSecond: 9 })).toEqual({
    bytesPerSecond: 9,
    loan: null,
  });
  expect(olderForm({ ...old, method: 'move-control' }, force)).not.toHaveProperty('refills');
  const answer = { holdings: [null, holding, { ...holding, state: 'ready' }] };
  const said = { method: 'digests', part: 'answer' } as const;
  const states = (body: unknown) => (body as typeof answer).holdings.map((one) => one?.state);
  expect(states(olderForm({ ...said, version: 18 }, answer))).toEqual([
    undefined,
    'filling',
    'ready',
  ]);
  expect(olderForm({ ...said, version: 19 }, answer)).toBe(answer);
});

test('version 26 has no arcs', () => {
  const body = { keyspace: 'k', partition: 1, arc: { start: 0, end: 7 } };
  const said = { method: 'coordinate-scan', part: 'request', version: 26 } as const;
  const older = olderForm(said, body);
  expect(older).toEqual({ keyspace: 'k', partition: 1 });
  expect(newerForm(said, older)).toEqual({ ...body, arc: null });
});

test('version 31 requests the records of small partitions in another form', () => {
  const request = { method: 'copy-start', part: 'request' } as const;
  const rows = { method: 'rows', part: 'answer', version: 31 } as const;
  const body = { partition: 1, takesPacked: true };
  expect(olderForm({ ...request, version: 31 }, body)).toEqual({ partition: 1, takesRows: null });
  expect(olderForm({ ...request, version: 30 }, body)).toEqual({ partition: 1 });
  for (const [version, older] of [
    [31, { partition: 1, takesRows: true }],
    [30, { partition: 1 }],
  ] as const) {
    expect(newerForm({ ...request, version }, older)).toEqual({ partition: 1, takesPacked: null });
  }
  expect(olderForm(rows, { rows: [] })).toEqual({ rows: [], digest: null });
  expect(newerForm(rows, { rows: [], digest: 'a' })).toEqual({ rows: [] });
});

test('a body without fields is left for its schema to refuse', () => {
  for (const body of [null, 7, 'text', [1]]) {
    expect(newerForm({ method: 'hello', part: 'request', version: 18 }, body)).toBe(body);
  }
});

test('the oldest version lacks exactly these messages', () => {
  const methods = Object.values(messageKinds).map(({ method }) => method);
  expect(methods.filter((method) => !isMessageKnown(method, oldestWireVersion)).sort()).toEqual([
    'audit-read',
    'coordinate-scan',
    'copy-checksum',
    'copy-go-on',
    'copy-start',
    'files-look',
    'moves-complete',
    'page-read',
    'tail',
    'writes',
  ]);
  expect(methods.filter((method) => !isMessageKnown(method, wireVersion))).toEqual([]);
});
