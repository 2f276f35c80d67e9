// ring-builder key: manages signing keys, and the root of trust that says which keys count.
import { listKeys, protectKey } from '@ringwright/repository/signing-key';
import { text, texts, usage } from '../../cli/arguments.ts';
import { flagOption, listOption, textOption } from '../../cli/option-forms.ts';
import type { Answer, Context, Verb } from '../../cli/verb.ts';
import { generateAnswer } from './key-generate.ts';
import { listAnswer } from './key-list.ts';
import { revokeAnswer, trustAnswer } from './key-trust.ts';

export const verb: Verb = {
  positionals: {
    action: {
      describe: 'generate, list, protect, trust or revoke',
      choices: ['generate', 'list', 'protect', 'trust', 'revoke'],
    },
    names: { describe: 'generate: name of the new key; protect: names; revoke: names or ids' },
  },
  options: {
    role: textOption('generate: what the key is for (default ring)', {
      choices: ['ring', 'root', 'beacon'],
    }),
    cluster: textOption('generate: cluster of the first root (default: that of the rings here)'),
    add: listOption('trust: ROLE:NAME=PUBLIC, a line of key generate'),
    threshold: listOption('trust: ROLE=N, signatures that are needed'),
    large: textOption('trust: N, ring signatures that a large change needs'),
    'moved-share': textOption('trust: share of the slots above which it is large: 0.05'),
    'allow-override': textOption('trust: may a reason stand for them', { choices: ['yes', 'no'] }),
    days: textOption('generate, trust: how long the root is good (default 731)'),
    'raise-epoch': flagOption('trust: what was signed before counts no more'),
    sign: flagOption('trust: add a signature to the root that waits'),
    discard: flagOption('trust: give up the root that waits'),
  },
  examples: [
    ['$0 key generate ada', 'turns signing on: root, ring and beacon keys, and trust.json'],
    ['$0 key generate bob --role ring', 'a key for somebody else: prints the line to --add'],
    ['$0 key protect', 'a passphrase for the keys here that have none'],
    ['$0 key trust --add ring:bob=MCow…', 'the next root, which knows bob'],
    ['$0 key revoke eve', 'the next root, without eve'],
  ],
  run: async (args, context) => {
    const action = text(args, 'action');
    const names = texts(args, 'names');
    if (action === 'generate') return generateAnswer(args, context, names);
    if (action === 'list') {
      if (names.length > 0) throw usage(`key list shows all keys, and takes no ${names.join(' ')}`);
      return listAnswer(context);
    }
    if (action === 'protect') return protectAnswer(context, names);
    if (action === 'revoke') return revokeAnswer(args, context, names);
    if (names.length > 0) throw usage(`key trust takes options, not ${names.join(' ')}`);
    return trustAnswer(args, context);
  },
};

/** Encrypts private keys that have no passphrase; without names, all keys here. */
async function protectAnswer(context: Context, names: readonly string[]): Promise<Answer> {
  const { folder, passphrase } = context.keys;
  const wanted = names.length > 0 ? names : (await listKeys(folder)).map(({ name }) => name);
  const done: string[] = [];
  for (const name of wanted) {
    if (await protectKey(folder, name, () => passphrase('create'))) done.push(name);
  }
  const none = `no key in ${folder} was without a passphrase`;
  return {
    json: { folder, protected: done, changed: done.length > 0 },
    lines: [done.length === 0 ? none : `encrypted in ${folder}: ${done.join(', ')}`],
    next: context.next('key list'),
  };
}
