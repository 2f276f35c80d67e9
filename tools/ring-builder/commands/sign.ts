// ring-builder sign: a further signature on a version that waits for it, or after a rotation.
import { readLog } from '@ringwright/repository/read-log';
import { requireRingKey } from '@ringwright/repository/seal-version';
import { signVersion } from '@ringwright/repository/sign-version';
import { requireTrust } from '@ringwright/repository/trust-file';
import { optionalText, text } from '../arguments.ts';
import { ringKey } from '../signing.ts';
import { authorOf } from '../stage-verb.ts';
import type { Verb } from '../verb.ts';
import { versionOf } from '../version-reference.ts';

export const verb: Verb = {
  positionals: { version: { describe: '7, @~1 or the start of an id; default: the head' } },
  examples: [
    ['$0 sign cities', 'the second signature on a large change, by the only ring key here'],
    ['$0 sign cities 7 --sign-as bob', 'by another one of those here'],
  ],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const entries = await readLog(context.rings, ring);
    const version = versionOf(ring, entries, optionalText(args, 'version'));
    const { trust } = await requireTrust(context.rings);
    const key = requireRingKey(trust, await ringKey(context));
    const place = { rings: context.rings, ring };
    const signed = await signVersion(place, authorOf(context), { version, key });
    const { id, signers, needed, missing, changed } = signed;
    const how = changed ? 'signed' : 'was signed by this key before';
    const left = missing === 0 ? 'it may be pushed' : `${missing} more needed`;
    return {
      json: { ring, version, id, signers, needed, missing, changed },
      lines: [`version ${version} of ${ring} ${how}: ${signers.join(', ')}; ${left}`],
      next: context.next(missing === 0 ? `push ${ring}` : `sign ${ring} ${version}`),
    };
  },
};
