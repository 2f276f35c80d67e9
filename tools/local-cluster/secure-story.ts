// The demonstration of `npm start -- --secure`, in acts: servers prove their identity and demand
// tokens, unauthorized requests are refused, and every secret is replaced while an application
// runs.
import fs from 'node:fs';
import path from 'node:path';
import { must } from '@ringwright/base/assert';
import { seededRandom } from '@ringwright/base/random';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';
import { waitFor } from '@ringwright/node/wait-for';
import { readBack } from './all-records.ts';
import { failure } from './failure.ts';
import { newLedger } from './ledger.ts';
import type { SecureFigures } from './secure-figures.ts';
import {
  addressesOf,
  deviceOf,
  KEYSPACE,
  load,
  REPLICAS,
  type Stage,
  TRAFFIC_SEED,
  WEIGHT,
} from './story.ts';
import { refusalOf, shownFingerprint } from './stranger.ts';
import { startTraffic, type Traffic } from './traffic.ts';

/** Enough answers for each lane of the application that no earlier request is still in flight. */
const ANSWERS_BETWEEN = 200;
const WAIT_MS_MAX = 30_000;
const HOST = '127.0.0.1';

/** Files of the secured cluster. */
interface SecuredFiles {
  readonly authority: string;
  readonly bundle: string;
  readonly trust: string;
  readonly operator: string;
  readonly shop: string;
  readonly nextShop: string;
}

interface SecureStage extends Stage {
  readonly files: SecuredFiles;
  /** Environment of commands. Credentials are added once they exist. */
  readonly environment: Record<string, string>;
}

interface SecureEnding {
  readonly figures: SecureFigures;
  readonly wrong: readonly string[];
}

export function securedFiles(folder: string): SecuredFiles {
  const inFolder = (...names: string[]): string => path.join(folder, ...names);
  return {
    authority: inFolder('certs', 'authority.pem'),
    bundle: inFolder('certs', `${HOST}.pem`),
    trust: inFolder('rings', 'trust.json'),
    operator: inFolder('ada.token'),
    shop: inFolder('shop.token'),
    nextShop: inFolder('shop-2.token'),
  };
}

export async function tellSecureStory(stage: SecureStage): Promise<SecureEnding> {
  const started = performance.now();
  const { cluster, cities, files, narrator } = stage;
  await secureFromTheStart(stage);
  const first = await connectShop(stage, files.shop);
  const ledger = newLedger(cities.entries);
  await load(stage, first, ledger);
  const refused = await refuseOthers(stage);
  const traffic = startTraffic({ client: first, ledger, random: seededRandom(TRAFFIC_SEED) });
  const certificates = await replaceCertificate(stage);
  await replaceKey(stage, traffic);
  const next = await giveNextToken(stage, traffic);
  await first.close();
  const revokedOn = await revokeToken(stage, traffic);
  await traffic.stop();
  narrator.act('Every record is read back and compared');
  const comparison = await readBack(next, ledger);
  await next.close();
  const { seen } = traffic;
  const figures: SecureFigures = {
    records: cities.entries.length,
    lost: comparison.wrong.length,
    wrongReads: seen.wrong.length,
    servers: cluster.servers.length,
    refused,
    certificates,
    revokedOn,
    live: { writes: seen.writes, reads: seen.reads, failed: seen.retries },
    longestPauseMs: {
      writer: Math.round(seen.writePauseMs),
      reader: Math.round(seen.readPauseMs),
    },
    seconds: Math.round((performance.now() - started) / 100) / 10,
  };
  return { figures, wrong: [...seen.wrong, ...comparison.wrong] };
}

async function secureFromTheStart(stage: SecureStage): Promise<void> {
  const { builder, cluster, environment, files, narrator, partitions } = stage;
  // `certs` refuses keys without a passphrase.
  environment['RING_BUILDER_PASSPHRASE'] = 'only a demonstration';
  narrator.act(
    'Signed rings, a certificate authority, tokens, and three servers that require them',
  );
  const counts = ['--partitions', String(partitions), '--replicas', String(REPLICAS)];
  await builder('create', KEYSPACE, '--partitioner', 'hash-intervals', ...counts);
  await builder('certs', 'init', HOST);
  await builder('access', 'grant', 'ada', '--operator', '--metrics', '--out', files.operator);
  const shop = ['--read', KEYSPACE, '--write', KEYSPACE, '--out', files.shop];
  await builder('access', 'grant', 'shop', ...shop);
  environment['RINGWRIGHT_CA'] = files.authority;
  environment['RING_BUILDER_TOKEN_FILE'] = files.operator;
  narrator.say('from now on ring-builder uses ada.token and trusts authority.pem');
  await cluster.startFirst(files);
  narrator.say(`each server: ring-server … --tls ${files.bundle} --trust ${files.trust}`);
  const devices = cluster.servers.flatMap((server) => [deviceOf(server), WEIGHT]);
  await builder('add', KEYSPACE, ...devices, '--ask-key');
  await builder('commit', KEYSPACE, '-m', 'three servers, each with its key');
  await builder('push', KEYSPACE);
}

async function refuseOthers({ cluster, narrator, files }: SecureStage) {
  narrator.act('Unknown callers are rejected');
  const { port } = must(cluster.servers[0], 'three servers').place;
  const attempt = { port, path: `/v1/${KEYSPACE}/any`, ca: read(files.authority) };
  const operator = read(files.operator);
  const refused = {
    plainText: await refusalOf({ ...attempt, ca: null }),
    noToken: await refusalOf(attempt),
    wrongSecret: await refusalOf({ ...attempt, token: `shop.${operator.split('.')[1]}` }),
    otherRole: await refusalOf({ ...attempt, token: operator }),
  };
  narrator.say(`plain HTTP: ${refused.plainText}`);
  narrator.say(`HTTPS without a token: ${refused.noToken}`);
  narrator.say(`the name of a token with another secret: ${refused.wrongSecret}`);
  narrator.say(`ada's token, which reads no records: ${refused.otherRole}`);
  return refused;
}

async function replaceCertificate({ builder, cluster, narrator }: SecureStage) {
  narrator.act('The certificate is replaced, while an application writes and reads');
  const shown = () => Promise.all(cluster.servers.map(({ place }) => shownFingerprint(place.port)));
  const before = new Set(await shown());
  await builder('certs', 'rotate', HOST);
  const after = await waitFor('every server to show the new certificate', {
    ask: shown,
    until: (now) => now.every((one) => !before.has(one)),
    deadlineMs: WAIT_MS_MAX,
    failure,
  });
  narrator.say(`all ${after.length} servers show the new one; none was restarted`);
  return { before: [...before], after: [...new Set(after)] };
}

/** Replaces the ring key: the new key signs the ring, and every server learns which keys count. */
async function replaceKey({ builder, narrator }: SecureStage, traffic: Traffic): Promise<void> {
  narrator.act('The key that signs rings is replaced');
  const words = ['key', 'generate', 'bob', '--role', 'ring'];
  const { line } = await builder<{ readonly line: string }>(...words);
  await builder('key', 'trust', '--add', line);
  await builder('key', 'revoke', 'ada');
  await builder('sign', KEYSPACE, '1');
  await builder('access', 'sign');
  await builder('push', KEYSPACE);
  await answersSince(traffic);
  narrator.say('all servers accept signatures of bob, and no new ones of ada');
}

function connectShop({ cluster, files }: SecureStage, token: string): Promise<Client> {
  const ca = read(files.authority);
  return connect(addressesOf(cluster), { keyspace: KEYSPACE, ca, token: read(token) });
}

/** Resolves when the application uses only the client with the new token. */
async function giveNextToken(stage: SecureStage, traffic: Traffic): Promise<Client> {
  const { builder, files, narrator } = stage;
  narrator.act('The application gets another token, and the old one is revoked under load');
  const shop = ['--read', KEYSPACE, '--write', KEYSPACE, '--out', files.nextShop];
  await builder('access', 'grant', 'shop-2', ...shop);
  const client = await connectShop(stage, files.nextShop);
  traffic.useClient(client);
  await answersSince(traffic);
  return client;
}

/** Resolves to the number of servers that refuse the old token when the command has ended. */
async function revokeToken(
  { builder, cluster, files, narrator }: SecureStage,
  traffic: Traffic,
): Promise<number> {
  await builder('access', 'revoke', 'shop');
  const [ca, token] = [read(files.authority), read(files.shop)];
  const answers = await Promise.all(
    cluster.servers.map(({ place }) =>
      refusalOf({ port: place.port, path: `/v1/${KEYSPACE}/any`, ca, token }),
    ),
  );
  const refusing = answers.filter((answer) => answer === 'TOKEN_REFUSED').length;
  await answersSince(traffic);
  const { seen } = traffic;
  narrator.say(`${refusing} of ${answers.length} servers refuse the old one`);
  const answered = (seen.writes + seen.reads).toLocaleString('en');
  narrator.say(`meanwhile ${answered} requests were answered, ${seen.retries} failed`);
  return refusing;
}

async function answersSince({ seen }: Traffic): Promise<void> {
  const before = seen.writes + seen.reads;
  await waitFor(`${ANSWERS_BETWEEN} more answers`, {
    ask: () => seen.writes + seen.reads - before,
    until: (count) => count >= ANSWERS_BETWEEN,
    deadlineMs: WAIT_MS_MAX,
    failure,
  });
}

function read(file: string): string {
  return fs.readFileSync(file, 'utf8').trim();
}
