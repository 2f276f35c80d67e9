// Records an operator's commands on moves in the log, so that others can see who paused them and
// why copies are slow.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { noteVersion } from '@ringwright/repository/append-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/command.ts';
import { authorOf } from '../versions/stage-command.ts';

/** The command has taken effect already, so a failure to log it is only a warning. */
export async function noteControl(
  context: Context,
  { ring: { keyspace: ring, version }, id }: Pick<StoredVersion, 'ring' | 'id'>,
  content: {
    readonly message: string;
    readonly details: Readonly<Record<string, string | number>>;
  },
): Promise<void> {
  const note = {
    ...{ ...authorOf(context), ...content, commands: [context.command] },
    kind: 'moves',
  } as const;
  const noted = await resultOrError(
    noteVersion({ rings: context.rings, ring }, { version, id }, note),
  );
  if (!(noted instanceof CodedError)) return;
  context.tell(`warning ${noted.code}: it was done, but is missing from the log: ${noted.message}`);
}
