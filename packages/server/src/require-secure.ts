// Off loopback a server listens only when strangers can do nothing there.
import { isIPv4 } from 'node:net';
import { CodedError } from '@ringwright/base/coded-error';
import { splitAddress } from '@ringwright/base/server-address';
import type { ServerOptions } from './options.ts';

type Listening = Pick<ServerOptions, 'listen' | 'data' | 'tls' | 'trust' | 'insecureListen'>;

/** Whether only programs of this machine reach the address. */
export function isLoopback(address: string): boolean {
  const { ip } = splitAddress(address);
  return ip === 'localhost' || ip === '::1' || (isIPv4(ip) && ip.startsWith('127.'));
}

/** Whether it listens to others without what keeps strangers out. */
export function isInsecure({ listen, tls, trust }: Listening): boolean {
  return !isLoopback(listen) && (tls === undefined || trust.length === 0);
}

/** Throws INSECURE_LISTEN, with the commands that would set it up. */
export function requireSecure(options: Listening): void {
  if (options.insecureListen || !isInsecure(options)) return;
  const { listen, data, tls, trust } = options;
  const lacks = [
    ...(tls === undefined ? ['--tls'] : []),
    ...(trust.length === 0 ? ['--trust'] : []),
  ];
  const given = `--data ${data} --listen ${listen}`;
  const message = `other machines reach ${listen}, and ${lacks.join(' and ')} is missing`;
  throw new CodedError('INSECURE_LISTEN', message, {
    hint: [
      'set it up:',
      ...(trust.length === 0 ? ['  ring-builder key generate operator'] : []),
      `  ring-server ${given} --tls ${tls ?? 'own'} --trust ${trust[0] ?? 'rings/trust.json'}`,
      'or, where nobody else reaches that network:',
      `  ring-server ${given} --insecure-listen`,
    ].join('\n'),
    details: { listen, lacks },
  });
}
