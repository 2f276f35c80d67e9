// ring-builder access: manages tokens and the signed document that tells servers what each may do.
import { usage } from '../../cli/arguments.ts';
import { flagOption, listOption, textOption, type Verb } from '../../cli/verb.ts';
import { pushAnswer, revokeAnswer, signAnswer } from './access-change.ts';
import { grantAnswer } from './access-grant.ts';
import { listAnswer } from './access-list.ts';
import { logAnswer } from './access-log.ts';

export const verb: Verb = {
  positionals: {
    action: {
      describe: 'grant, revoke, list, log, push or sign',
      choices: ['grant', 'revoke', 'list', 'log', 'push', 'sign'],
    },
    names: { describe: 'grant: name of the new token; revoke: names' },
  },
  options: {
    read: listOption('grant: KEYSPACE[/PREFIX] whose records it reads; * for all'),
    write: listOption('grant: KEYSPACE[/PREFIX] whose records it writes; * for all'),
    operator: flagOption('grant: pushes, moves, drops, rates'),
    metrics: flagOption('grant: status and metrics'),
    peer: flagOption('grant: for ring-server --token-file'),
    days: textOption('grant: how long it is good (default: until it is revoked)'),
    offline: flagOption('list: do not ask servers when each token was last used'),
    out: textOption('grant: file for the token, mode 0600; without it it is printed'),
  },
  examples: [
    ['$0 access grant servers --peer --out peer.token', 'what servers show to each other'],
    ['$0 access grant ada --operator --metrics --out ada.token', 'then RING_BUILDER_TOKEN_FILE'],
    ['$0 access grant shop --read notes --write notes/shop:', 'reads all, writes below a prefix'],
    ['$0 access revoke shop', 'within a second on every server that can be reached'],
    ['$0 access log', 'what the servers noted: grants, refusals, pushes, drops, rates'],
    ['$0 access list', 'who may do what, until when, and when each was last used'],
  ],
  about:
    'Granting signs with a ring key and sends to the servers of all rings here. Before that\n' +
    'everybody may do everything. Operators show their token by --token-file FILE,\n' +
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
