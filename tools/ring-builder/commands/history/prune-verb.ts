// What prune and archive share: which versions go, and the answer.
import { pruneVersions } from '@ringwright/repository/prune-versions';
import { type Arguments, parseNumber, text } from '../../cli/arguments.ts';
import { textOption } from '../../cli/option-forms.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import type { Answer, Context } from '../../cli/verb.ts';
import { authorOf } from '../../versions/stage-verb.ts';

export async function pruneAndAnswer(
  args: Arguments,
  context: Context,
  archive: string | null,
): Promise<Answer> {
  const ring = text(args, 'ring');
  const keep = parseNumber(text(args, 'keep'), 'keep');
  const request = { keep, archive, command: context.command };
  const place = { rings: context.rings, ring };
  const { versions, bytes } = await pruneVersions(place, authorOf(context), request);
  const range = `${versions[0]} to ${versions.at(-1)}`;
  const done = archive === null ? 'deleted' : `moved to ${archive}`;
  return {
    json: { ring, versions, bytes, archive, keep, changed: versions.length > 0 },
    lines:
      versions.length === 0
        ? [`${ring}: no version file is older than the newest ${keep}`]
        : [
            `${ring}: versions ${range} (${printBytes(bytes)}) ${done}; the log still tells of them`,
          ],
    next: context.next(`verify ${ring}`),
  };
}

export const keepOption = textOption('how many of the newest versions stay', {
  demandOption: true,
});
