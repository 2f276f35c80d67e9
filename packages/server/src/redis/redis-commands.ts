// The table of Redis commands, and COMMAND, which describes it.
import { lowerOf, textOf, unknownSubcommand, wrongArguments } from './redis-args.ts';
import { fitsArity, type RedisCall, type RedisCommand, RedisRefusal } from './redis-command.ts';
import { connectionCommands } from './redis-connection-commands.ts';
import { expiryCommands } from './redis-expiry.ts';
import { changeCommands, keyCommands } from './redis-keys.ts';
import { serverCommands } from './redis-server-commands.ts';
import { setCommands } from './redis-set.ts';
import { transactionCommands } from './redis-transactions.ts';
import { arrayReply, integerReply, nullReply, type RespReply, textReply } from './resp-reply.ts';
import type { RespRequest } from './resp-requests.ts';

const table: ReadonlyMap<string, RedisCommand> = new Map([
  ...Object.entries(connectionCommands),
  ...Object.entries(keyCommands),
  ...Object.entries(setCommands),
  ...Object.entries(changeCommands),
  ...Object.entries(expiryCommands),
  ...Object.entries(serverCommands),
  ...Object.entries(transactionCommands),
  ['command', { arity: -1, keys: 'none', effect: 'none', run: describeCommands }],
]);

/**
 * Maximum of bytes shown of the name of an unknown command, and of its arguments together, as in
 * Redis.
 */
const SHOWN_BYTES = 128;

export interface FoundCommand {
  readonly name: string;
  readonly command: RedisCommand;
}

/** Commands in the two spellings that clients use. Other spellings are looked up in lower case. */
const commandBySpelling: ReadonlyMap<string, FoundCommand> = new Map(
  [...table].flatMap(([name, command]) => {
    const found = { name, command };
    return [[name, found] as const, [name.toUpperCase(), found] as const];
  }),
);

/**
 * Returns the command that a request names. Throws Redis's refusals for unknown names and wrong
 * numbers of words.
 */
export function findCommand(request: RespRequest): FoundCommand {
  // The longest names are far shorter, so a word of a MiB need not be read to its end.
  const text = shownOf(request[0], SHOWN_BYTES);
  const found = commandBySpelling.get(text) ?? commandBySpelling.get(text.toLowerCase());
  if (found === undefined) throw unknownCommand(request);
  if (!fitsArity(found.command, request.length)) throw wrongArguments(found.name);
  return found;
}

function unknownCommand(request: RespRequest): RedisRefusal {
  const name = shownOf(request[0], SHOWN_BYTES);
  let argsText = '';
  for (const word of request.slice(1)) {
    if (argsText.length >= SHOWN_BYTES) break;
    argsText += `'${shownOf(word, SHOWN_BYTES - argsText.length)}' `;
  }
  return new RedisRefusal(`ERR unknown command '${name}', with args beginning with: ${argsText}`);
}

function shownOf(word: Uint8Array | undefined, bytes: number): string {
  return textOf(word?.subarray(0, bytes));
}

function describeCommands({ args }: RedisCall): RespReply {
  switch (lowerOf(args[0])) {
    case '':
      return arrayReply([...table].map(([name, command]) => describe(name, command)));
    case 'count':
      return integerReply(table.size);
    case 'list':
      return arrayReply([...table.keys()].map(textReply));
    case 'docs': // redis-cli asks for its hints; it has its own
      return { kind: 'map', pairs: [] };
    case 'info':
      return arrayReply(
        args.slice(1).map((word) => {
          const command = table.get(lowerOf(word));
          return command === undefined ? nullReply : describe(lowerOf(word), command);
        }),
      );
    default:
      throw unknownSubcommand('command', args[0]);
  }
}

/** Returns name, arity, flags, first key, last key and step: what cluster clients look at. */
function describe(name: string, { arity, keys, effect }: RedisCommand): RespReply {
  const flags = effect === 'none' ? [] : [effect === 'read' ? 'readonly' : 'write'];
  const [first, last, step] =
    keys === 'none' ? [0, 0, 0] : keys === 'first' ? [1, 1, 1] : [1, -1, keys === 'even' ? 2 : 1];
  return arrayReply([
    textReply(name),
    integerReply(arity),
    arrayReply(flags.map((text) => ({ kind: 'simple', text }))),
    ...[first, last, step].map(integerReply),
  ]);
}
