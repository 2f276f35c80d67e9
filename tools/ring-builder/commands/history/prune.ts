// ring-builder prune: deletes old versions; the log and its chain stay. Also used by archive.
import { CodedError } from '@ringwright/base/coded-error';
import { versionSpan } from '@ringwright/repository/folder/version-span';
import { pruneVersions } from '@ringwright/repository/prune-versions';
import { type Arguments, parseNumber } from '../../cli/arguments.ts';
import { type Answer, type Command, type Context, textOption } from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { authorOf } from '../../versions/stage-command.ts';

export const keepOption = textOption('number of newest versions to keep', {
  demandOption: true,
});

export const command: Command = {
  options: { keep: keepOption },
  examples: [['$0 prune cities --keep 50 --yes', 'delete all but the newest 50 versions']],
  run: async (args, context) => {
    if (context.yes) return pruneAndAnswer(args, context, null);
    const ring = args.text('ring');
    throw new CodedError('CONFIRMATION_NEEDED', `prune permanently deletes versions of ${ring}`, {
      hint: `ring-builder archive ${ring} --keep N --to DIR moves them instead; or add --yes`,
      details: { ring },
    });
  },
};

/** `archive`: the folder that receives the files; null: they are deleted. */
export async function pruneAndAnswer(
  args: Arguments,
  context: Context,
  archive: string | null,
): Promise<Answer> {
  const ring = args.text('ring');
  const keep = parseNumber(args.text('keep'), 'keep');
  const request = { keep, archive, command: context.command };
  const place = { rings: context.rings, ring };
  const { versions, bytes } = await pruneVersions(place, authorOf(context), request);
  const range = versionSpan(versions[0] ?? 0, versions.at(-1) ?? 0);
  const done = archive === null ? 'deleted' : `moved to ${archive}`;
  return {
    json: { ring, versions, bytes, archive, keep, changed: versions.length > 0 },
    lines:
      versions.length === 0
        ? [`${ring}: no version files besides the newest ${keep}`]
        : [`${ring}: ${range} (${printBytes(bytes)}) ${done}; the log keeps their entries`],
    next: context.next(`verify ${ring}`),
  };
}
