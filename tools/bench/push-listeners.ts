// Program of one worker of the push benchmark: many listeners in one process. They use the real
// wire endpoint and RingExchange, and each decodes, audits and swaps the ring itself. Left out: the
// ring cache on disk. Equal rings are kept in memory once per process.
import fs from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { assert } from '@ringwright/base/assert';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { judgeRing } from '@ringwright/ring/audit/judge-ring';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { acceptWire } from '@ringwright/server/http/wire-endpoint';
import { type ActiveRing, activeRing, ringHead } from '@ringwright/server/rings/active-ring';
import { RingExchange } from '@ringwright/server/rings/ring-exchange';
import type { Rings } from '@ringwright/server/rings/rings';
import type { AnswerFunction, CallHandler } from '@ringwright/wire/call-channel';
import { hello } from '@ringwright/wire/hello';
import { ringChunk, ringDelta, ringOffer } from '@ringwright/wire/rings';
import { wireVersion } from '@ringwright/wire/wire-version';

const identity = { name: null, address: { ip: '127.0.0.1', port: 0 }, born: 'bench' };
const byId = new Map<string, ActiveRing>();
const unsigned = { alarm: null, chosen: null, epochMax: 0 };

/** The part of Rings that RingExchange uses for pushes. */
class ListenerRings {
  active: ActiveRing;

  constructor(first: ActiveRing) {
    this.active = first;
  }

  find(): ActiveRing {
    return this.active;
  }

  precheck({ id }: { readonly id: string }): 'wanted' | 'same' {
    return id === this.active.id ? 'same' : 'wanted';
  }

  wantsSignatures(): boolean {
    return false;
  }

  adopt(bytes: Uint8Array): Promise<ActiveRing> {
    const decoded = decodeRing(bytes);
    const { ring, id } = decoded;
    const opened = { ring, findings: auditRing(ring), change: null };
    const verdict = judgeRing(
      { active: this.active, highest: ringHead(this.active), ...unsigned },
      { head: { keyspace: ring.keyspace, version: ring.version, id }, manifest: ring, opened },
    );
    if ('error' in verdict) throw verdict.error;
    const active = byId.get(decoded.id) ?? activeRing({ ...decoded, bytes }, identity, Date.now());
    byId.set(decoded.id, active);
    this.active = active;
    return Promise.resolve(active);
  }
}

function handlersOf(rings: ListenerRings): Map<string, CallHandler> {
  const exchange = new RingExchange(rings as unknown as Rings);
  const helloAnswer = { wireVersion, address: '', life: null, settled: true, remembered: null };
  const kinds: [typeof hello | typeof ringOffer | typeof ringDelta | typeof ringChunk, unknown][] =
    [
      [hello, () => ({ ...helloAnswer, ms: Date.now(), rings: [], access: null })],
      [ringOffer, exchange.offer.bind(exchange)],
      [ringDelta, exchange.delta.bind(exchange)],
      [ringChunk, exchange.chunk.bind(exchange)],
    ];
  // The channel passes on only requests that match the schema of their kind.
  return new Map(
    kinds.map(([{ method, request }, answer]) => [
      method,
      { request, answer: answer as AnswerFunction },
    ]),
  );
}

async function listen(rings: ListenerRings): Promise<number> {
  const server = http.createServer();
  acceptWire(server, { handlers: handlersOf(rings) });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const [file, count] = process.argv.slice(2);
assert(file !== undefined && process.send !== undefined, 'started by push.ts');
const bytes = await fs.readFile(file);
const first = activeRing({ ...decodeRing(bytes), bytes }, identity, Date.now());
const all = Array.from({ length: Number(count) }, () => new ListenerRings(first));
process.on('message', () => {
  const ids = all.map(({ active }) => active.id);
  for (const one of all) one.active = first;
  process.send?.({ ids, rssBytes: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit());
process.send({ ports: await Promise.all(all.map(listen)) });
