// Makes all connections of a tortured process come from its own address, by which its proxies
// recognize it.
import module from 'node:module';
import type { ConnectionOptions } from 'node:tls';

/** Runs before the modules that connect are loaded, and before module.syncBuiltinESMExports(). */
export function nameConnections(localAddress: string): void {
  const net = module.createRequire(import.meta.url)('node:net') as typeof import('node:net');
  const connect = net.connect as (...args: unknown[]) => unknown;
  const named = (options: unknown, ...rest: unknown[]): unknown =>
    typeof options === 'object' ? connect({ ...options, localAddress }, ...rest) : connect(options);
  Object.assign(net, { connect: named, createConnection: named });
  const tls = module.createRequire(import.meta.url)('node:tls') as typeof import('node:tls');
  const connectTls = tls.connect;
  Object.assign(tls, {
    connect: (options: ConnectionOptions) => connectTls({ ...options, ...{ localAddress } }),
  });
}
