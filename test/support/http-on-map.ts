// The HTTP server on a port of its own, with a map in place of the devices: tests what the
// connection carries.
import { type AddressInfo, connect } from 'node:net';
import { CodedError } from '@ringwright/base/coded-error';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { LongWrites } from '@ringwright/server/coordinate/long-writes';
import { allowedHosts } from '@ringwright/server/http/check-request';
import { createHttp, type HttpPorts } from '@ringwright/server/http/http';
import { acceptWire } from '@ringwright/server/http/wire-endpoint';
import type { DeviceCaller } from '@ringwright/server/peers/device-caller';
import type { ActiveRing } from '@ringwright/server/rings/active-ring';
import { RingRequests } from '@ringwright/server/rings/ring-requests';
import { createMetrics } from '@ringwright/server/telemetry/metrics';
import { openGuard } from './open-guard.ts';
import { activeOn, servedRing } from './served-ring.ts';
import { writeByCall } from './write-by-call.ts';

const active = activeOn(servedRing({ replicas: 1, devices: 1, power: 0 }), 0);
const rings = {
  get: (keyspace: string) => {
    if (keyspace === 'cities') return active;
    throw new CodedError('RING_UNKNOWN', `no ring '${keyspace}'`);
  },
  list: () => [active],
  find: () => active,
};
const info = (_keyspace: string, partition: number) =>
  partition === 0 ? { state: 'ready', incarnation: 'i', seq: 7, rows: 2, digest: 'd' } : null;

export class HttpOnMap {
  readonly rows = new Map<string, { value: Uint8Array | null; ms: number; tie: number }>();
  readonly bugs: unknown[] = [];
  /** Takes one long value at a time. */
  readonly longWrites = new LongWrites(0);
  /** While set, the single device answers every call with this error. */
  readonly ports: HttpPorts;
  readonly server: ReturnType<typeof createHttp>;
  readonly #closeWire: () => Promise<void>;

  /** `names`: host names that it answers to besides localhost and addresses. */
  constructor(names: readonly string[] = []) {
    const clock = new HybridClock(() => 1_763_692_800_000);
    const issueStamp = ({ tieDevice }: ActiveRing) => Promise.resolve(clock.next(tieDevice));
    const call = this.#call.bind(this) as unknown as DeviceCaller['call'];
    const devices = { call, write: writeByCall(call) };
    const { longWrites } = this;
    const requests = new RingRequests();
    // Contains only what the tested routes use.
    this.ports = {
      coordinator: { rings, requests, devices, clock, issueStamp, longWrites },
      status: {
        rings,
        store: { info },
        reconciler: { draining: () => new Map(), progress: () => [] },
      },
      metrics: createMetrics(),
      guard: openGuard(),
      allowsHost: allowedHosts(names),
      onBug: (error: unknown) => this.bugs.push(error),
    } as unknown as HttpPorts;
    this.server = createHttp(this.ports);
    this.#closeWire = acceptWire(this.server, { handlers: new Map() });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    await this.#closeWire();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /**
   * Sends texts over one connection, each after the previous one was answered. Returns all answers
   * when the connection has closed.
   */
  async talk(parts: readonly (string | Buffer)[]): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    let answers = '';
    let onData = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('error', () => undefined);
    });
    socket.on('data', (data) => {
      answers += data.toString('latin1');
      onData();
    });
    for (const part of parts) {
      const before = answers.length;
      const answered = new Promise<void>((resolve) => {
        onData = () => {
          if (answers.includes('\r\n\r\n', before)) resolve();
        };
      });
      socket.write(part);
      await Promise.race([answered, closed]);
    }
    socket.end();
    await closed;
    return answers;
  }

  #call(_to: unknown, { method }: { method: string }, request: unknown): Promise<unknown> {
    const { key, ...row } = request as {
      key: Uint8Array;
      value: Uint8Array | null;
      ms: number;
      tie: number;
    };
    const name = Buffer.from(key).toString();
    if (method === 'read') return Promise.resolve({ record: this.rows.get(name) ?? null });
    this.rows.set(name, row);
    return Promise.resolve({ kind: 'stored' });
  }
}

export const statusesOf = (answers: string): string[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1] ?? '');
