// Checks before settle that the records of every server can be found under the ring. A server would
// refuse any other ring, whatever an operator says.
import { must } from '@ringwright/base/assert';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { ancestorIdAt } from '@ringwright/ring/audit/fork-point';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { settingsText } from '@ringwright/ring/partitioner/partitioner-settings';
import { mayFollow } from '@ringwright/ring/partitioner/reshape';
import type { Ring } from '@ringwright/ring/ring';
import { fetchRing } from '@ringwright/wire/fetch-ring';
import { named } from '../../servers/advice.ts';
import type { TargetStatus } from '../../servers/ask-servers.ts';
import type { Target } from '../../servers/ring-targets.ts';
import { fanOut, withServer } from '../../servers/server-connection.ts';
import { waysToFindKeys, wayWithArchive } from './advice-after-fork.ts';

/**
 * Fetches the ring of each other history from one server that has it. Servers that cannot be asked
 * will refuse by themselves. Throws RING_FOREIGN.
 */
export async function requireSameKeyMapping(
  version: StoredVersion,
  targets: readonly TargetStatus[],
): Promise<void> {
  const { ring, id } = version;
  const { keyspace, partitioner } = ring;
  const holders = holdersOfOthers(version, targets);
  const unfindable = await fanOut([...holders.values()], async (alike) => {
    const otherRing = await ringOf(must(alike[0], 'a group has a member'), keyspace);
    const isFindable = otherRing === null || mayFollow(otherRing.partitioner, partitioner);
    return isFindable ? [] : [{ alike, theirs: otherRing }];
  });
  const [first] = unfindable.flat();
  if (first === undefined) return;
  const others = unfindable.flat().flatMap(({ alike }) => alike);
  const details = {
    ...{ ring: keyspace, version: ring.version, id, theirs: first.theirs.version },
    servers: others.map(({ address }) => address),
  };
  if (!mayFollow(partitioner, first.theirs.partitioner)) throw neitherWins(ring, others, details);
  const [ownText, otherText] = [partitioner, first.theirs.partitioner].map(settingsText);
  throw new CodedError(
    'RING_FOREIGN',
    `version ${ring.version} here maps keys by ${ownText}, ${named(others)} by ${otherText}: ` +
      'their records would not be found with this ring, so this history cannot win',
    { hint: waysToFindKeys(ring, others[0]?.address), details },
  );
}

/** For when each history has splits or merges that the other has not, or began with another map. */
function neitherWins(
  { keyspace, version }: Ring,
  others: readonly Target[],
  details: CodedError['details'],
): CodedError {
  const message =
    `version ${version} here and the ring of ${named(others)} map keys differently, such as by ` +
    'different splits: records of one would not be found with the other, so neither can win';
  return new CodedError('RING_FOREIGN', message, {
    hint: wayWithArchive(keyspace, others),
    details: { ...details, neither: true },
  });
}

/** Groups the servers whose active ring is not on this history, by ring id. */
function holdersOfOthers({ ring, id }: StoredVersion, targets: readonly TargetStatus[]) {
  const holders = targets.flatMap(({ ringStatus, ...target }) =>
    ringStatus instanceof Error ||
    ancestorIdAt({ ...ring, id }, ringStatus.version) === ringStatus.id
      ? []
      : [{ ...target, ringId: ringStatus.id }],
  );
  return Map.groupBy(holders, ({ ringId }) => ringId);
}

async function ringOf({ address }: Target, keyspace: string): Promise<Ring | null> {
  const fetched = await resultOrError(
    withServer(address, async (server) => decodeRing(await fetchRing(server, keyspace))),
  );
  return fetched instanceof CodedError ? null : fetched.ring;
}
