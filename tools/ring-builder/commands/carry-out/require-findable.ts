// Before settle tells any server: a ring under which the records of a server would not be found is
// refused there, whatever an operator says.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { idAt } from '@ringwright/ring/audit/fork-point';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { settingsText } from '@ringwright/ring/partitioner/partitioner-settings';
import { mayFollow } from '@ringwright/ring/partitioner/reshape';
import type { Ring } from '@ringwright/ring/ring';
import { fetchRing } from '@ringwright/wire/fetch-ring';
import { named } from '../../servers/advice.ts';
import { fanOut } from '../../servers/fan-out.ts';
import { ringTargets, type Target } from '../../servers/ring-targets.ts';
import { withServer } from '../../servers/server-connection.ts';
import { ringStatus } from '../../servers/server-status.ts';
import { waysToFindKeys } from './advice-after-fork.ts';

/**
 * The ring of each other history is fetched from one server that has it. Those that cannot be asked
 * refuse for themselves. Throws RING_FOREIGN.
 */
export async function requireFindable(version: StoredVersion): Promise<void> {
  const { ring, id } = version;
  const { keyspace, partitioner } = ring;
  const holders = await holdersOfOthers(version);
  const judged = await fanOut([...holders.values()], async (targets) => {
    const theirs = await ringOf(targets[0], keyspace);
    const isAlike = theirs === null || mayFollow(theirs.partitioner, partitioner);
    return isAlike ? [] : [{ targets, theirs }];
  });
  const [first] = judged.flat();
  if (first === undefined) return;
  const targets = judged.flat().flatMap((one) => one.targets);
  const [here, there] = [partitioner, first.theirs.partitioner].map(settingsText);
  throw new CodedError(
    'RING_FOREIGN',
    `version ${ring.version} here maps keys by ${here}, ${named(targets)} by ${there}: ` +
      'the records there would not be found under it, so it cannot win',
    {
      hint: waysToFindKeys(ring, targets[0]?.address),
      details: {
        ...{ ring: keyspace, version: ring.version, id, theirs: first.theirs.version },
        servers: targets.map(({ address }) => address),
      },
    },
  );
}

type Holders = [Target, ...Target[]];

/** By id of a ring that is not of the line here, as far as this one tells: who has it active. */
async function holdersOfOthers({ ring, id, state }: StoredVersion): Promise<Map<string, Holders>> {
  const asked = await fanOut(ringTargets(ring, state), async (target) => {
    return { target, said: await ringStatus(target.address, ring.keyspace) };
  });
  const holders = new Map<string, Holders>();
  for (const { target, said } of asked) {
    if (said instanceof Error || idAt({ ...ring, id }, said.version) === said.id) continue;
    const known = holders.get(said.id);
    if (known === undefined) holders.set(said.id, [target]);
    else known.push(target);
  }
  return holders;
}

async function ringOf({ address }: Target, keyspace: string): Promise<Ring | null> {
  const fetched = await orCoded(
    withServer(address, async (server) => decodeRing(await fetchRing(server, keyspace))),
  );
  return fetched instanceof CodedError ? null : fetched.ring;
}
