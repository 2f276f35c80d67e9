// The network between servers: a proxy in front of each, with a rule per link and direction.
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { CopyFault } from './copy-fault.ts';

/** Rule for bytes in one direction: they wait while held, and each chunk takes `delayMs` longer. */
export interface LinkRule {
  readonly held: boolean;
  readonly delayMs: number;
}

const open: LinkRule = { held: false, delayMs: 0 };
/** Interval at which a held direction checks whether it may continue. */
const LOOK_MS = 20;
/** Stands for everything that is not a server. */
export const outside = -1;

/** Returns the address from which server n connects. */
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
  /** Links `caller>callee` whose requests are held. */
  readonly #heldCalls = new Set<string>();
  readonly #sockets = new Map<net.Socket, string>();
  readonly #proxies: net.Server[] = [];

  /** Starts a proxy on this port in front of server `to`, which listens on `target` of `host`. */
  async listen(to: number, endpoint: { readonly proxy: number } & Target) {
    const proxy = net.createServer((arriving) => this.#join(arriving, to, endpoint));
    proxy.listen(endpoint.proxy, '127.0.0.1');
    await once(proxy, 'listening');
    this.#proxies.push(proxy);
  }

  rule(from: number, to: number, rule: Partial<LinkRule>): void {
    this.#rules.set(`${from}>${to}`, { ...this.#ruleOf(from, to), ...rule });
  }

  /** Holds all bytes between the two, in both directions. */
  separate(one: number, other: number): void {
    this.rule(one, other, { held: true });
    this.rule(other, one, { held: true });
  }

  /** Sets the fault of copies that this server requests; null: none. */
  harmCopies(joiner: number, fault: CopyFault | null): void {
    if (fault === null) this.#copyFaults.delete(joiner);
    else this.#copyFaults.set(joiner, fault);
  }

  /** Holds requests on connections that the caller made to the callee, but not the responses. */
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

  /** Breaks the connections that the caller made to the callee: requests on their way are lost. */
  cutCalls(caller: number, callee: number): void {
    for (const [socket, link] of this.#sockets) {
      if (link === `${caller}>${callee}`) socket.destroy();
    }
  }

  /** Breaks every connection between the two: everything on its way is lost. */
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
    const callRule = (): LinkRule => {
      const rule = this.#ruleOf(from, to);
      return this.#heldCalls.has(`${from}>${to}`) ? { ...rule, held: true } : rule;
    };
    void this.#carry(arriving, leaving, { rule: callRule, fault: () => undefined });
    const fault = (): CopyFault | undefined => this.#copyFaults.get(from);
    void this.#carry(leaving, arriving, { rule: () => this.#ruleOf(to, from), fault });
  }

  /** Forwards one direction of a connection. Back-pressure keeps held bytes at their sender. */
  async #carry(source: net.Socket, target: net.Socket, { rule, fault }: Way): Promise<void> {
    try {
      for await (const chunk of source) {
        while (rule().held && !target.destroyed) await delay(LOOK_MS);
        if (rule().delayMs > 0) await delay(rule().delayMs);
        if (target.destroyed) return;
        const copyFault = fault();
        const passed = copyFault?.pass(source, chunk as Buffer);
        while (passed?.isStalled === true && fault() === copyFault) await delay(LOOK_MS);
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
