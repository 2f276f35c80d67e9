// Greets the server at the address that a hello names, and asks there whether the hello is true.
// All hellos that come meanwhile share one greeting, and a cooldown follows each, so that nobody
// can make this server call another one all the time.

interface AskBackPorts {
  /** Greets the server there on a connection of this server's own. */
  readonly greet: (address: string) => Promise<void>;
  /** Resolves after the rest. */
  readonly cooldown: () => Promise<unknown>;
}

export class AskBack {
  readonly #ports: AskBackPorts;
  /** By address: the greeting that has not begun yet. */
  readonly #next = new Map<string, Promise<void>>();
  /** By address: the last greeting, cooldown included. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(ports: AskBackPorts) {
    this.#ports = ports;
  }

  /** Resolves after a greeting that began after this call. Rejects as `greet`. */
  ask(address: string): Promise<void> {
    const planned = this.#next.get(address);
    if (planned !== undefined) return planned;
    const before = this.#last.get(address) ?? Promise.resolve();
    const greeting = before.then(() => {
      this.#next.delete(address);
      return this.#ports.greet(address);
    });
    const cooledDown = greeting.catch(() => undefined).then(() => this.#ports.cooldown());
    this.#next.set(address, greeting);
    this.#last.set(address, cooledDown);
    void cooledDown.then(() => {
      if (this.#last.get(address) === cooledDown) this.#last.delete(address);
    });
    return greeting;
  }
}
