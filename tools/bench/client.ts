#!/usr/bin/env node
// Program: puts and gets a second through the client package against servers that run already.
//     npm run bench:client -- KEYSPACE IP:PORT ... (64 calls in flight, 100-byte values)
import { inWaves } from '@ringwright/base/in-waves';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';

const calls = 20_000;
const inFlight = 64;
const keyCount = 5_000;
const rounds = 3;
const value = Buffer.alloc(100, 'v');

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function measure(call: (key: string) => Promise<unknown>): Promise<Figures> {
  const keys = Array.from({ length: calls }, (_, index) => `key${(index * 7_919) % keyCount}`);
  const times: number[] = [];
  const started = performance.now();
  await inWaves(keys, inFlight, async (key) => {
    const before = performance.now();
    await call(key);
    times.push(performance.now() - before);
  });
  const seconds = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const quantile = (share: number): number => times[Math.floor(share * times.length)] ?? 0;
  return { perSecond: calls / seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

function print(name: string, { perSecond, p50Ms, p99Ms }: Figures): void {
  const rate = Math.round(perSecond).toLocaleString('en');
  console.log(`${name}  ${rate}/s  p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms`);
}

async function runRound(client: Client): Promise<void> {
  print('put', await measure((key) => client.put(key, value)));
  print('get', await measure((key) => client.get(key)));
}

const [keyspace, ...addresses] = process.argv.slice(2);
if (keyspace === undefined || addresses.length === 0) {
  console.error('npm run bench:client -- KEYSPACE IP:PORT ...');
  process.exitCode = 2;
} else {
  await using client = await connect(addresses, { keyspace });
  for (let round = 0; round < rounds; round += 1) await runRound(client);
}
