// Whether servers hold a newer access document than the folder, asked before the next one is made.
import { accessIdOf } from '@ringwright/access/access-document';
import { judgeAccess, openAccess } from '@ringwright/access/open-access';
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { type RingsAccess, readAccess } from '@ringwright/repository/folder/access-file';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { payloadOf } from '@ringwright/ring/trust/signed-document';
import { trustFetch } from '@ringwright/wire/trust';
import { fanOut, withServer } from '../servers/server-connection.ts';
import { allTargets } from './all-targets.ts';

const answerMs = 3_000;

/**
 * What was revoked would be granted again by a document that is based on one from before: in a
 * folder that is behind, or was put back, also where the first attempt is refused. Servers that do
 * not answer, or answer with what nobody signed, say nothing. Throws ACCESS_OLDER, ACCESS_FORK.
 */
export async function requireNewestAccess(rings: string, nowMs: number): Promise<void> {
  const trust = (await readTrust(rings))?.trust;
  if (trust === undefined) return;
  const { cluster } = trust.root;
  const here = judgedOf(await readAccess(rings, trust), cluster);
  await fanOut(await allTargets(rings), async ({ address }) => {
    const told = await orCoded(
      withServer(address, (server) => server.call(trustFetch, {}, answerMs)),
    );
    if (told instanceof CodedError || told.access === null) return;
    const { access } = told;
    const held = await orCoded((async () => openAccess(access, [trust], nowMs))());
    if (!(held instanceof CodedError)) judgeAccess(held, here);
  });
}

/** Nothing is the document before the first one. */
function judgedOf(access: RingsAccess | null, cluster: string) {
  if (access === null) return { document: { cluster, epoch: 0, version: 0 }, id: '' };
  const { document, file } = access;
  return { document, id: accessIdOf(payloadOf(file)) };
}
