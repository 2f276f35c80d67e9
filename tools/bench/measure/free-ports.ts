// Ports that nobody listens on at this moment, given by the system.
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

/** `count` different ports: all are held open together before any is given back. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => net.createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
