// Ports for servers that are killed and restarted: below the range of outgoing connections, so that
// nothing else takes a port while its server is down.
import net from 'node:net';

const FIRST = 12_000;
/** Test processes run side by side and use many ports: each has a region of its own. */
const REGIONS = 8;
const COUNT = 2_500;
const region = FIRST + (Number(process.env['VITEST_POOL_ID'] ?? process.pid) % REGIONS) * COUNT;
let next = (process.pid * 61) % COUNT;

/** Returns different ports that nobody listens on at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried += 1) {
    if (tried === COUNT) throw new Error(`no ${count} free ports from ${region} on`);
    const port = region + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
