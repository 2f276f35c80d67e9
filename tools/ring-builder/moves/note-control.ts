// What was told to servers about moves, noted in the log: else nobody knew who paused them, and why
// copies are slow.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { noteVersion } from '@ringwright/repository/append-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/verb.ts';
import { authorOf } from '../versions/stage-verb.ts';

/** It has happened by then: what keeps it out of the log is told, and fails nothing. */
export async function noteControl(
  context: Context,
  { ring: { keyspace: ring, version }, id }: Pick<StoredVersion, 'ring' | 'id'>,
  said: { readonly message: string; readonly details: Readonly<Record<string, string | number>> },
): Promise<void> {
  const about = { ...authorOf(context), ...said, commands: [context.command] };
  const note = { ...about, kind: 'moves' } as const;
  const noted = await orCoded(noteVersion({ rings: context.rings, ring }, { version, id }, note));
  if (!(noted instanceof CodedError)) return;
  context.tell(`warning ${noted.code}: it is done, but not in the log: ${noted.message}`);
}
