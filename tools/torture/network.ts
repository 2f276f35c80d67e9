// The network between servers: one proxy before each, with a rule for every link and direction.
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { CopyFault } from './copy-fault.ts';

/** Bytes from one end to another: they wait while held, and each piece takes a while longer. */
export interface LinkRule {
  readonly held: boolean;
  readonly delayMs: number;
}

const open: LinkRule = { held: false, delayMs: 0 };
/** How often a held direction looks whether it may go on. */
const LOOK_MS = 20;
/** The number of everybody who is no server. */
export const outside = -1;

/** Connections of server n come from this address. */
export const sourceOf = (server: number): string => `127.0.1.${server + 1}`;

interface Target {
  readonly host: string;
  readonly target: number;
}

/** One direction of a connection. */
interface Way {
  readonly rule: () => LinkRule;
  readonly fault: () => CopyFault | undefined;
}

export class Network implements AsyncDisposable {
  readonly #rules = new Map<string, LinkRule>();
  readonly #copyFaults = new Map<number, CopyFault>();
  /** Who asks whom in vain. */
  readonly #heldCalls = new Set<string>();
  readonly #sockets = new Map<net.Socket, string>();
  readonly #proxies: net.Server[] = [];

  /** A proxy at this port before what listens on `target` of `host`: server `to`. */
  async listen(to: number, at: { readonly proxy: number } & Target) {
    const proxy = net.createServer((arriving) => this.#join(arriving, to, at));
    proxy.listen(at.proxy, '127.0.0.1');
    await once(proxy, 'listening');
    this.#proxies.push(proxy);
  }

  rule(from: number, to: number, rule: Partial<LinkRule>): void {
    this.#rules.set(`${from}>${to}`, { ...this.#ruleOf(from, to), ...rule });
  }

  /** All that goes between the two waits, in both directions. */
  separate(one: number, other: number): void {
    this.rule(one, other, { held: true });
    this.rule(other, one, { held: true });
  }

  /** What goes wrong with copies that this server asks for; null: nothing. */
  harmCopies(joiner: number, fault: CopyFault | null): void {
    if (fault === null) this.#copyFaults.delete(joiner);
    else this.#copyFaults.set(joiner, fault);
  }

  /** What one asks the other waits, over connections that the first has made; not the answers. */
  holdCalls(caller: number, callee: number): void {
    this.#heldCalls.add(`${caller}>${callee}`);
  }

  releaseCalls(caller: number, callee: number): void {
    this.#heldCalls.delete(`${caller}>${callee}`);
  }

  heal(): void {
    this.#rules.clear();
    this.#heldCalls.clear();
    this.#copyFaults.clear();
  }

  /** Breaks the connections that one has made to the other: what it asked is lost. */
  cutCalls(caller: number, callee: number): void {
    for (const [socket, link] of this.#sockets) {
      if (link === `${caller}>${callee}`) socket.destroy();
    }
  }

  /** Breaks every connection between the two: what was on its way is lost. */
  reset(one: number, other: number): void {
    this.cutCalls(one, other);
    this.cutCalls(other, one);
  }

  #ruleOf(from: number, to: number): LinkRule {
    return this.#rules.get(`${from}>${to}`) ?? open;
  }

  #join(arriving: net.Socket, to: number, { host, target }: Target): void {
    const last = Number(arriving.remoteAddress?.split('.').at(-1));
    const from = arriving.remoteAddress?.startsWith('127.0.1.') ? last - 1 : outside;
    const leaving = net.connect(target, host);
    for (const socket of [arriving, leaving]) {
      this.#sockets.set(socket, `${from}>${to}`);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        arriving.destroy();
        leaving.destroy();
      });
    }
    const asked = (): LinkRule => {
      const rule = this.#ruleOf(from, to);
      return this.#heldCalls.has(`${from}>${to}`) ? { ...rule, held: true } : rule;
    };
    void this.#carry(arriving, leaving, { rule: asked, fault: () => undefined });
    const fault = (): CopyFault | undefined => this.#copyFaults.get(from);
    void this.#carry(leaving, arriving, { rule: () => this.#ruleOf(to, from), fault });
  }

  /** One direction of a connection: back pressure keeps what is held at its sender. */
  async #carry(source: net.Socket, target: net.Socket, { rule, fault }: Way): Promise<void> {
    try {
      for await (const chunk of source) {
        while (rule().held && !target.destroyed) await delay(LOOK_MS);
        if (rule().delayMs > 0) await delay(rule().delayMs);
        if (target.destroyed) return;
        const harm = fault();
        const passed = harm?.pass(source, chunk as Buffer);
        while (passed?.isStalled === true && fault() === harm) await delay(LOOK_MS);
        if (!target.write(passed?.bytes ?? (chunk as Buffer))) await once(target, 'drain');
        if (passed?.isCut === true) break;
      }
      target.end();
    } catch {
      target.destroy(); // one end broke: so does the other
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy();
    await Promise.all(this.#proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
  }
}
