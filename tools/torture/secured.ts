// Security of a stage: an authority for the servers, signed rings, and tokens. Certificates and the
// workers' tokens change while it runs.
import fs from 'node:fs/promises';
import path from 'node:path';
import { deviceIdentity } from '@ringwright/node/link/device-certificate';
import { loadDeviceKey } from '@ringwright/server/device/device-key';
import type { Shown } from '../../test/support/ask-server.ts';
import type { Trusted } from '../../test/support/replica-digests.ts';
import { type RingBuilder, ringBuilderProgramIn } from '../../test/support/ring-builder-program.ts';

const HOST = '127.0.0.1';
/** Exit code: not all servers were reached. */
const DOWN_EXIT = 4;

export class Secured {
  /** Environment variables of the operator's commands. */
  readonly environment: Readonly<Record<string, string>>;
  readonly serverArgs: readonly string[];
  readonly #folder: string;
  readonly #tool: RingBuilder;
  readonly #tokens = new Map<string, string>();
  #ca = '';
  #rotations = 0;

  private constructor(folder: string, tool: RingBuilder, environment: Secured['environment']) {
    this.#folder = folder;
    this.#tool = tool;
    this.environment = environment;
    const bundle = path.join(folder, 'certs', `${HOST}.pem`);
    const trust = ['--trust', path.join(folder, 'rings', 'trust.json')];
    this.serverArgs = ['--tls', bundle, ...trust, '--token-file', this.#tokenFile('operator')];
  }

  /** `keyspace`: what the workers may read and write. */
  static async open(folder: string, keyspace: string): Promise<Secured> {
    const environment = {
      RING_BUILDER_KEYS: path.join(folder, 'keys'),
      RING_BUILDER_PASSPHRASE: 'of a torture',
      RINGWRIGHT_CA: path.join(folder, 'certs', 'authority.pem'),
      RING_BUILDER_TOKEN_FILE: path.join(folder, 'operator.token'),
    };
    // The token file that the environment names exists only after the first grant.
    const { RING_BUILDER_TOKEN_FILE: _, ...before } = environment;
    const first = await ringBuilderProgramIn(folder, { options: [], environment: before });
    await first.json('key generate ada');
    await first.json(['certs', 'init', HOST]);
    const tool = await ringBuilderProgramIn(folder, { options: [], environment });
    const secured = new Secured(folder, tool, environment);
    secured.#ca = await fs.readFile(environment.RINGWRIGHT_CA, 'utf8');
    const every = ['--read', '*', '--write', '*'];
    await secured.#grant(first, 'operator', ['--operator', '--metrics', '--peer', ...every]);
    const data = ['--read', keyspace, '--write', keyspace];
    await secured.#grant(first, 'lasting', data);
    await secured.#grant(first, 'workers-0', data);
    return secured;
  }

  /** For workers, which always use the present token. */
  get worker(): Shown {
    return { ca: this.#ca, token: this.#token(`workers-${this.#rotations}`) };
  }

  /** For clients that get a token once. */
  get lasting(): Shown {
    return { ca: this.#ca, token: this.#token('lasting') };
  }

  get operator(): Shown {
    return { ca: this.#ca, token: this.#token('operator') };
  }

  /**
   * For checks that compare replicas, which otherwise only servers do. `data`: the data directory
   * of a server that the ring names.
   */
  async asServer(data: string): Promise<Trusted> {
    const { token } = this.operator;
    const [rings, ca] = [path.join(this.#folder, 'rings'), this.environment['RINGWRIGHT_CA']];
    return { rings, ca, token, identity: deviceIdentity(await loadDeviceKey(data)) };
  }

  /** Replaces key and certificate of the servers while they run. */
  async rotateCertificate(): Promise<void> {
    await this.#tool.json(['certs', 'rotate', HOST]);
  }

  /** Gives the workers another token, and revokes the one before. */
  async rotateToken(keyspace: string): Promise<void> {
    const [before, next] = [`workers-${this.#rotations}`, `workers-${this.#rotations + 1}`];
    await this.#grant(this.#tool, next, ['--read', keyspace, '--write', keyspace]);
    this.#rotations += 1;
    await this.#answered(['access', 'revoke', before]);
  }

  async #grant(tool: RingBuilder, name: string, roles: readonly string[]): Promise<void> {
    const file = this.#tokenFile(name);
    await this.#answered(['access', 'grant', name, ...roles, '--out', file], tool);
    this.#tokens.set(name, (await fs.readFile(file, 'utf8')).trim());
  }

  /** The command pushes to all servers; those that are down get it from the others. */
  async #answered(words: readonly string[], tool = this.#tool): Promise<void> {
    const { exit, stderr } = await tool.run([...words, '--json']);
    if (exit === 0 || exit === DOWN_EXIT) return;
    throw new Error(`ring-builder ${words.join(' ')} ended with ${exit}: ${stderr}`);
  }

  #tokenFile(name: string): string {
    return path.join(this.#folder, `${name}.token`);
  }

  #token(name: string): string {
    const token = this.#tokens.get(name);
    if (token === undefined) throw new Error(`no token ${name} was granted`);
    return token;
  }
}
