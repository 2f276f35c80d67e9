// Refuses to listen beyond loopback unless unauthorized callers are kept out.
import { CodedError } from '@ringwright/base/coded-error';
import { quoteCommand } from '@ringwright/base/quote-command';
import { isLoopback, splitAddress } from '@ringwright/base/server-address';
import { listenAddressesOf } from './listen.ts';
import { wordsOf } from './option-flags.ts';
import type { ServerOptions } from './options.ts';

type Protection = Pick<ServerOptions, 'tls' | 'trust' | 'tokenFile' | 'clientCa'>;
type Listening = Protection &
  Parameters<typeof listenAddressesOf>[0] &
  Pick<ServerOptions, 'data' | 'insecureListen'>;

/** Returns an address that other machines can reach, if the server listens there. */
function exposedAddress(options: Listening): string | undefined {
  return listenAddressesOf(options).find((address) => !isLoopback(splitAddress(address).ip));
}

/**
 * Whether the server listens beyond loopback without everything that keeps unauthorized callers
 * out.
 */
export function isInsecure(options: Listening): boolean {
  return exposedAddress(options) !== undefined && lackingOf(options).length > 0;
}

/**
 * Throws INSECURE_LISTEN. Its hint shows the commands that make the setup secure, with all options
 * as they were typed.
 */
export function requireSecure(options: Listening & Partial<ServerOptions>): void {
  if (options.insecureListen || !isInsecure(options)) return;
  const { listen, tls = 'own', trust, tokenFile, clientCa } = options;
  const lacks = lackingOf(options);
  const isOpen = (tokenFile ?? clientCa) === undefined;
  const hintTokenFile = isOpen ? 'peer.token' : tokenFile;
  const roots = trust.length === 0 ? ['rings/trust.json'] : trust;
  const commandOf = (added: Partial<ServerOptions>): string =>
    `  ${quoteCommand(['ring-server', ...wordsOf({ ...options, ...added })])}`;
  const address = exposedAddress(options);
  const message = `other machines can reach ${address}; missing: ${lacks.join(', ')}`;
  throw new CodedError('INSECURE_LISTEN', message, {
    hint: [
      'set it up:',
      ...(trust.length === 0
        ? ['  ring-builder key generate operator   # unless rings/trust.json exists']
        : []),
      ...(isOpen
        ? [
            `  ring-builder access grant servers --peer --out ${hintTokenFile}`,
            '  ring-builder access grant operator --operator --metrics --out operator.token',
          ]
        : []),
      commandOf({ tls, trust: roots, tokenFile: hintTokenFile }),
      ...(isOpen ? ['  ring-builder access push   # once a ring names it'] : []),
      'or, if nobody else can reach that network:',
      commandOf({ insecureListen: true }),
    ].join('\n'),
    details: { listen, lacks },
  });
}

/**
 * Returns the missing options. Without a token or an authority, a server whose disk was wiped would
 * let everybody in.
 */
function lackingOf({ tls, trust, tokenFile, clientCa }: Protection): string[] {
  return [
    ...(tls === undefined ? ['--tls'] : []),
    ...(trust.length === 0 ? ['--trust'] : []),
    ...(tokenFile === undefined && clientCa === undefined ? ['--token-file'] : []),
  ];
}
