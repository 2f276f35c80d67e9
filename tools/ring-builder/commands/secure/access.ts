// ring-builder access: manages tokens and the signed document that tells servers what each may do.
import { usage } from '../../cli/arguments.ts';
import { type Command, flagOption, listOption, textOption } from '../../cli/command.ts';
import { pushAnswer, revokeAnswer, signAnswer } from './access-change.ts';
import { grantAnswer } from './access-grant.ts';
import { listAnswer } from './access-list.ts';
import { logAnswer } from './access-log.ts';

export const command: Command = {
  positionals: {
    action: {
      describe: 'grant, revoke, list, log, push or sign',
      choices: ['grant', 'revoke', 'list', 'log', 'push', 'sign'],
    },
    names: { describe: 'grant: name of the new token; revoke: names of tokens' },
  },
  options: {
    read: listOption('grant: read records of KEYSPACE[/PREFIX]; * for all'),
    write: listOption('grant: write records of KEYSPACE[/PREFIX]; * for all'),
    operator: flagOption('grant: push rings and control moves, drops and rates'),
    metrics: flagOption('grant: read status and metrics'),
    peer: flagOption('grant: act as a server (for ring-server --token-file)'),
    days: textOption('grant: lifetime in days (default: until revoked)'),
    offline: flagOption('list: do not ask servers when each token was last used'),
    out: textOption('grant: file for the token, mode 0600 (default: print it)'),
  },
  examples: [
    ['$0 access grant servers --peer --out peer.token', 'a token that servers show to each other'],
    [
      '$0 access grant ada --operator --metrics --out ada.token',
      'use it with RING_BUILDER_TOKEN_FILE',
    ],
    [
      '$0 access grant shop --read notes --write notes/shop:',
      'read all records, write below a prefix',
    ],
    ['$0 access revoke shop', 'in force within a second on every reachable server'],
    ['$0 access log', 'audit log of the servers: grants, refusals, pushes, drops, rates'],
    ['$0 access list', 'who may do what, until when, and when each was last used'],
  ],
  about:
    'A grant is signed with a ring key and sent to the servers of all rings here. Before the\n' +
    'first one, anyone may do everything. Operators pass their token with --token-file FILE,\n' +
    'RING_BUILDER_TOKEN_FILE or RING_BUILDER_TOKEN.',
  run: async (args, context) => {
    const names = args.texts('names');
    const action = args.text('action');
    if (action === 'grant') return grantAnswer(args, context, names);
    if (action === 'revoke') return revokeAnswer(context, names);
    if (names.length > 0) throw usage(`access ${action} takes no names, not ${names.join(' ')}`);
    if (action === 'list') return listAnswer(args, context);
    if (action === 'log') return logAnswer(context);
    return action === 'push' ? pushAnswer(context) : signAnswer(context);
  },
};
