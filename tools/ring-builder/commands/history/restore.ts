// ring-builder restore: a ring folder made anew from one ring file, or from a server's copy.
import { counted } from '@ringwright/base/counted';
import { type Restored, restoreRing } from '@ringwright/repository/restore-ring';
import { optionalText, text } from '../../cli/arguments.ts';
import type { Verb } from '../../cli/verb.ts';
import { authorOf } from '../../versions/stage-verb.ts';
import { type RestoreSource, restoreSource } from './restore-source.ts';

export const verb: Verb = {
  positionals: { ring: { describe: 'its name; needed for a server, checked for a file' } },
  options: {
    from: {
      type: 'string',
      requiresArg: true,
      demandOption: true,
      describe: 'a .ring file, or a server as IP:PORT',
    },
    trust: {
      type: 'string',
      requiresArg: true,
      describe: 'trust.json, or the id of a root: the ring must be signed by its keys',
    },
  },
  examples: [
    ['$0 restore cities --from backup/0000007.ring', 'builder and version as that file has them'],
    ['$0 restore cities --from 10.0.0.1:6200', 'from a server that has the ring active'],
    ['$0 restore cities --from 10.0.0.1:6200 --trust ID', 'and trust.json, when all was lost'],
  ],
  run: async (args, context) => {
    const name = optionalText(args, 'ring');
    const from = text(args, 'from');
    const source = await restoreSource(context, from, { name, pin: optionalText(args, 'trust') });
    const restored = await restoreRing(context.rings, {
      ...source,
      name,
      author: authorOf(context),
      message: `from ${from}`,
      command: context.command,
    });
    const { ring, id, signers } = restored;
    const { keyspace, version, moves } = ring;
    return {
      json: { ring: keyspace, version, id, inFlight: moves.length, signers, from, changed: true },
      lines: [
        `restored ${keyspace} at version ${version} (${id.slice(0, 12)}), builder included`,
        authenticity(restored, source),
        `the log begins here: what was done before version ${version} is not in a ring file`,
        ...(moves.length > 0
          ? [`${counted(moves.length, 'move is', 'moves are')} in flight: rollout goes on`]
          : []),
      ],
      next: context.next(`verify ${keyspace}`),
    };
  },
};

function authenticity({ signed, signers }: Restored, { trust }: RestoreSource): string {
  if (trust !== null) return `signed by ${signers.join(', ')}, as root ${trust.trust.id} demands`;
  return signed
    ? 'NOT CHECKED by whom it is: no trust.json here, no --trust; verify asks for trust.json'
    : 'UNSIGNED: who can write the file, or answers for the server, can have made it up';
}
