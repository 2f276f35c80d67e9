// Heads of rings in etcd, through its JSON gateway (v3): <prefix>/<ring>/head, with
// compare-and-swap on the key's revision. Reads are linearizable, etcd's default.
import { etcdRetryMs } from '@ringwright/base/limits';
import { z } from 'zod';
import { type EtcdMembers, etcdMembers } from './etcd-members.ts';
import type { HeadStore, StoredHead, SwapOutcome, WatchPorts } from './head-store.ts';
import type { StoreAccess } from './store-access.ts';

const keyValue = z.object({ key: z.string(), value: z.string(), mod_revision: z.string() });
const rangeSchema = z.object({
  header: z.object({ revision: z.string().regex(/^\d+$/) }),
  kvs: z.array(keyValue).default([]),
});
// etcd omits a member that is false.
const txnSchema = z.object({ succeeded: z.boolean().default(false) });
const watchSchema = z.object({
  result: z.object({
    canceled: z.boolean().default(false),
    events: z.array(z.object({ type: z.string().optional(), kv: z.unknown() })).default([]),
  }),
});

interface Place {
  readonly members: readonly string[];
  readonly prefix: string;
  readonly tls: boolean;
  readonly access: StoreAccess;
}

export function etcdHeadStore(url: string, { members, prefix, tls, access }: Place): HeadStore {
  const etcd = etcdMembers(members, { tls, access });
  const start = `${prefix}/`;
  const keyOf = (ring: string): string => `${start}${ring}/head`;
  return {
    url,
    read: (ring) => read(etcd, keyOf(ring)),
    swap: (ring, expected, value) => swap(etcd, keyOf(ring), { expected, value }),
    watch: (ports) => watch(etcd, start, ports),
  };
}

async function read(etcd: EtcdMembers, key: string): Promise<StoredHead | null> {
  const body = { key: base64(key) };
  const { answer } = await etcd.call({ path: '/v3/kv/range', body, answer: rangeSchema });
  const [found] = answer.kvs;
  if (found === undefined) return null;
  return { value: textOf(found.value), revision: found.mod_revision };
}

async function swap(
  etcd: EtcdMembers,
  key: string,
  { expected, value }: { readonly expected: string | null; readonly value: string },
): Promise<SwapOutcome> {
  const named = { key: base64(key) };
  const unchanged = { ...named, target: 'MOD', result: 'EQUAL', mod_revision: expected ?? '0' };
  const put = { request_put: { ...named, value: base64(value) } };
  const body = { compare: [unchanged], success: [put] };
  const reply = await etcd.send({ path: '/v3/kv/txn', body, answer: txnSchema });
  if (reply.answer?.succeeded === true) return 'won';
  if (!reply.doubtful) return 'lost';
  // An interrupted member may have done the swap, so that the second attempt found its own value.
  const found = await read(etcd, key).catch(() => null);
  return found?.value === value ? 'won' : 'unknown';
}

/** Each connection begins by reading all current values, so no change is missed between two. */
function watch(etcd: EtcdMembers, start: string, { onHead, onTrouble }: WatchPorts): () => void {
  const ending = new AbortController();
  const range = { key: base64(start), range_end: base64(after(start)) };
  const report = (event: unknown): void => {
    const pair = keyValue.safeParse(event).data;
    const name = pair === undefined ? '' : textOf(pair.key).slice(start.length);
    if (pair !== undefined && /^[^/]+\/head$/.test(name)) {
      onHead(name.slice(0, -'/head'.length), textOf(pair.value));
    }
  };
  const follow = async (): Promise<void> => {
    const call = { path: '/v3/kv/range', body: range, answer: rangeSchema };
    const { answer, member } = await etcd.call(call);
    const { header, kvs } = answer;
    for (const pair of kvs) report(pair);
    const from = String(BigInt(header.revision) + 1n);
    const request = { create_request: { ...range, start_revision: from } };
    for await (const line of etcd.stream(member, { path: '/v3/watch', request }, ending.signal)) {
      const { result } = watchSchema.parse(line);
      for (const { type, kv } of result.events) if (type !== 'DELETE') report(kv);
      if (result.canceled) return;
    }
  };
  const keepFollowing = async (): Promise<void> => {
    await follow().catch((error: unknown) => {
      if (!ending.signal.aborted) onTrouble(error);
    });
    if (!ending.signal.aborted) setTimeout(() => void keepFollowing(), etcdRetryMs).unref();
  };
  void keepFollowing();
  return () => ending.abort();
}

/** The end of the key range with this prefix: its last byte plus one. */
function after(start: string): string {
  return `${start.slice(0, -1)}${String.fromCharCode(start.charCodeAt(start.length - 1) + 1)}`;
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function textOf(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString('utf8');
}
