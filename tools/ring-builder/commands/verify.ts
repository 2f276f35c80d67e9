// ring-builder verify: the audit of a ring's whole folder.
import { verifyRepository } from '@ringwright/repository/verify-repository';
import { text } from '../arguments.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  examples: [['$0 verify cities', 'exit code 1 when anything was found']],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const found = await verifyRepository(context.rings, ring);
    const { versions, entries, findings } = found;
    const sound = findings.length === 0;
    const checked = `${versions} versions, ${entries} log entries and builder.json of ${ring}`;
    return {
      json: { ...found, ok: sound },
      lines: [
        ...findings.map(({ code, message }) => `${code}: ${message}`),
        sound ? `${checked} are sound` : `${findings.length} findings in ${checked}`,
      ],
      next: sound ? context.next(`status ${ring}`) : `git log -p ${context.rings}/${ring}`,
      exit: sound ? 0 : 1,
    };
  },
};
