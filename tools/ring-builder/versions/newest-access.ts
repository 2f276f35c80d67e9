// Checks, before the next access document is made, that no server has a newer one than the folder.
import { accessIdOf } from '@ringwright/access/access-document';
import { judgeAccess, openAccess } from '@ringwright/access/open-access';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { type RingsAccess, readAccess } from '@ringwright/repository/folder/access-file';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { payloadOf } from '@ringwright/ring/trust/signed-document';
import { trustFetch } from '@ringwright/wire/trust';
import { fanOut, withServer } from '../servers/server-connection.ts';
import { allTargets } from './all-targets.ts';

const answerMs = 3_000;

/**
 * A document based on an older one would grant revoked tokens again, for example in a folder that
 * was restored from a backup. Servers that do not answer, and documents without valid signatures,
 * are ignored. Throws ACCESS_OLDER, ACCESS_FORK.
 */
export async function requireNewestAccess(rings: string, nowMs: number): Promise<void> {
  const trust = (await readTrust(rings))?.trust;
  if (trust === undefined) return;
  const { cluster } = trust.root;
  const localAccess = judgedOf(await readAccess(rings, trust), cluster);
  await fanOut(await allTargets(rings), async ({ address }) => {
    const answer = await resultOrError(
      withServer(address, (server) => server.call(trustFetch, {}, answerMs)),
    );
    if (answer instanceof CodedError || answer.access === null) return;
    const { access } = answer;
    const held = await resultOrError((async () => openAccess(access, [trust], nowMs))());
    if (!(held instanceof CodedError)) judgeAccess(held, localAccess);
  });
}

/** A folder without a document has version 0. */
function judgedOf(access: RingsAccess | null, cluster: string) {
  if (access === null) return { document: { cluster, epoch: 0, version: 0 }, id: '' };
  const { document, file } = access;
  return { document, id: accessIdOf(payloadOf(file)) };
}
