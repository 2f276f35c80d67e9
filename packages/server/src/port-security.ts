// TLS on the ports of a server: which certificate is shown, and how a bundle replaced on disk takes
// effect.

import type { Server } from 'node:net';
import { repeatedLineMsMin } from '@ringwright/base/limits';
import { silentConnectionsMax } from '@ringwright/base/limits-rings';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';
import { type SecurePort, securePort } from '@ringwright/node/link/secure-port';
import { monotonicMs } from '@ringwright/node/system-clock';
import type { Logger } from 'pino';
import { followFile } from './repeat.ts';
import type { ShownCertificate } from './status/status.ts';
import { RepeatedLines } from './telemetry/repeated-lines.ts';
import { bundleTimeError, readTlsBundle, type TlsBundle } from './tls-bundle.ts';

/**
 * Value of `--tls`: shows the certificate that the device makes from its own key, which rings name.
 */
const ownCertificate = 'own';

interface Surroundings {
  readonly device: TlsIdentity;
  readonly log: Logger;
  readonly nowMs: () => number;
}

export class PortSecurity {
  /** Whether connections without TLS are refused. */
  readonly demandsTls: boolean;
  readonly #surroundings: Surroundings;
  readonly #ports: SecurePort[] = [];
  #identity: TlsIdentity;
  #certificate: ShownCertificate | null = null;
  /**
   * Groups refusals by address and reason: a peer that rejects the key here reconnects every
   * second.
   */
  readonly #refusals = new RepeatedLines(monotonicMs);
  readonly #timer: NodeJS.Timeout;
  #stop: () => Promise<void> = () => Promise.resolve();

  private constructor(surroundings: Surroundings, demandsTls: boolean, identity: TlsIdentity) {
    this.#surroundings = surroundings;
    this.demandsTls = demandsTls;
    this.#identity = identity;
    this.#timer = setInterval(() => this.#refusals.tell(), repeatedLineMsMin / 2).unref();
  }

  /**
   * `tls`: the option. Without it, plain connections are served too. Throws what readTlsBundle
   * throws.
   */
  static async open(tls: string | undefined, surroundings: Surroundings): Promise<PortSecurity> {
    if (tls === undefined || tls === ownCertificate) {
      return new PortSecurity(surroundings, tls !== undefined, surroundings.device);
    }
    const bundle = await readTlsBundle(tls);
    // The server starts anyway: between devices nobody looks at this certificate.
    const error = bundleTimeError(tls, bundle, surroundings.nowMs());
    if (error !== null) {
      surroundings.log.error({ error }, 'the certificate is not valid: clients refuse this server');
    }
    const security = new PortSecurity(surroundings, true, bundle.identity);
    security.#follow(tls, bundle);
    return security;
  }

  /**
   * The certificate shown to clients. Null when no bundle is used: the device's own certificate
   * does not expire.
   */
  get shown(): ShownCertificate | null {
    return this.#certificate;
  }

  /**
   * Puts TLS in front of a server. To be called before it listens. `share`: see connectionShare.
   */
  guard(server: Server, share: number): void {
    const { device, log } = this.#surroundings;
    const port = securePort(server, {
      device,
      identity: this.#identity,
      servesPlain: !this.demandsTls,
      silentMax: Math.ceil(silentConnectionsMax * share),
      onRefused: (from, reason) => {
        this.#refusals.offer(`${from.replace(/:\d+$/, '')} ${reason}`, (repeated) => {
          log.info({ from, reason, ...(repeated > 0 && { repeated }) }, 'connection refused');
        });
      },
    });
    this.#ports.push(port);
  }

  async close(): Promise<void> {
    await this.#stop();
    clearInterval(this.#timer);
    this.#refusals.tellAll();
    for (const port of this.#ports) port.close();
  }

  /** Compares the content: a file rewritten with the same content changes nothing. */
  #follow(file: string, first: TlsBundle): void {
    const { log, nowMs } = this.#surroundings;
    const note = ({ names, startsMs, endsMs }: TlsBundle): void => {
      const [starts, ends] = [new Date(startsMs).toISOString(), new Date(endsMs).toISOString()];
      this.#certificate = { names, starts, ends };
      log.info({ file, ...this.#certificate }, 'certificate in use');
    };
    note(first);
    this.#stop = followFile(file, {
      failureMessage: 'the previous certificate stays in use',
      log,
      read: async () => {
        const bundle = await readTlsBundle(file);
        const { key, cert } = bundle.identity;
        if (key === this.#identity.key && cert === this.#identity.cert) return;
        const error = bundleTimeError(file, bundle, nowMs());
        if (error !== null) throw error;
        for (const port of this.#ports) port.show(bundle.identity);
        this.#identity = bundle.identity;
        note(bundle);
      },
    });
  }
}
