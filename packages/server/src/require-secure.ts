// Off loopback a server listens only when strangers can do nothing there.
import { isIPv4 } from 'node:net';
import { CodedError } from '@ringwright/base/coded-error';
import { splitAddress } from '@ringwright/base/server-address';
import { doorsOf } from './listen.ts';
import type { ServerOptions } from './options.ts';

type Protection = Pick<ServerOptions, 'tls' | 'trust' | 'tokenFile' | 'clientCa'>;
type Listening = Protection &
  Parameters<typeof doorsOf>[0] &
  Pick<ServerOptions, 'data' | 'insecureListen'>;

/** Whether only programs of this machine reach the address. */
export function isLoopback(address: string): boolean {
  const { ip } = splitAddress(address);
  return ip === 'localhost' || ip === '::1' || (isIPv4(ip) && ip.startsWith('127.'));
}

/** Whether it listens to others without what keeps strangers out. */
export function isInsecure(options: Listening): boolean {
  return !doorsOf(options).every(isLoopback) && lackingOf(options).length > 0;
}

/** Throws INSECURE_LISTEN, with the commands that would set it up. */
export function requireSecure(options: Listening): void {
  if (options.insecureListen || !isInsecure(options)) return;
  const { listen, data, tls = 'own', trust, tokenFile } = options;
  const lacks = lackingOf(options);
  const given = `--data ${data} --listen ${listen}`;
  const token = tokenFile ?? 'peer.token';
  const protection = `--tls ${tls} --trust ${trust[0] ?? 'rings/trust.json'} --token-file ${token}`;
  const reached = doorsOf(options).find((door) => !isLoopback(door));
  const message = `other machines reach ${reached}; missing: ${lacks.join(', ')}`;
  throw new CodedError('INSECURE_LISTEN', message, {
    hint: [
      'set it up:',
      ...(trust.length === 0 ? ['  ring-builder key generate operator'] : []),
      ...(tokenFile === undefined
        ? [
            `  ring-builder access grant servers --peer --out ${token}`,
            '  ring-builder access grant operator --operator --metrics --out operator.token',
          ]
        : []),
      `  ring-server ${given} ${protection}`,
      '  ring-builder access push   (once a ring names it)',
      'or, where nobody else reaches that network:',
      `  ring-server ${given} --insecure-listen`,
    ].join('\n'),
    details: { listen, lacks },
  });
}

/** Without token or authority a server whose disk was wiped would let everybody in. */
function lackingOf({ tls, trust, tokenFile, clientCa }: Protection): string[] {
  return [
    ...(tls === undefined ? ['--tls'] : []),
    ...(trust.length === 0 ? ['--trust'] : []),
    ...(tokenFile === undefined && clientCa === undefined ? ['--token-file'] : []),
  ];
}
