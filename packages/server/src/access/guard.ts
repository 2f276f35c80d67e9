// Decides who may do what on this server: checks each request against the access document in force.
// A server without a document, and not told by its operator to wait for one, is open, as on a
// laptop.
import type { Socket } from 'node:net';
import type { GrantedToken } from '@ringwright/access/access-document';
import type { Grant } from '@ringwright/access/grant';
import type { NeedsOf } from '@ringwright/access/message-needs';
import { type Need, needText, permits } from '@ringwright/access/need';
import {
  type Access,
  authenticate,
  hasExpired,
  tokenRefused,
} from '@ringwright/access/open-access';
import { CodedError, withoutStack } from '@ringwright/base/coded-error';
import { accessTokensMax } from '@ringwright/base/limits-access';
import { splitAddress } from '@ringwright/base/server-address';
import type { Caller } from '@ringwright/wire/call-channel';
import { type Certified, type Credential, credentialFrom } from './credential.ts';
import type { Refusal } from './refusal.ts';

interface GuardPorts {
  readonly access: () => Access | null;
  /** Whether all callers are refused until the first access document has come. */
  readonly isStrict: boolean;
  /** The only address at which the role operator counts; null: it counts everywhere. */
  readonly operatorListen: string | null;
  /** The grants of a certificate that was shown on a connection. */
  readonly certified: (socket: Socket) => Certified | null;
  readonly nowMs: () => number;
  readonly onRefusal: (refusal: Refusal) => void;
}

/**
 * The token found for a credential under one access document. The next document needs a new lookup.
 */
interface TokenLookup {
  readonly access: Access | null;
  readonly token: GrantedToken | null;
}

/**
 * Whether the need is for operators only: to change something or to show records. What callers may
 * merely view with the role metrics is answered at every address.
 */
function isAct(need: Need): boolean {
  return need.kind === 'role' && need.roles.includes('operator') && !need.roles.includes('metrics');
}

const peerGrants: readonly Grant[] = [{ role: 'peer' }];
const noOne = credentialFrom('', null);

export class Guard {
  readonly #ports: GuardPorts;
  readonly #operatorPort: number | null;
  readonly #credentials = new WeakMap<Caller, Credential>();
  readonly #lookups = new WeakMap<Credential, TokenLookup>();
  readonly #lastUse = new Map<string, number>();

  constructor(ports: GuardPorts) {
    this.#ports = ports;
    const address = ports.operatorListen;
    this.#operatorPort = address === null ? null : splitAddress(address).port;
  }

  /** When valid tokens were last shown here, in ms since 1970, as long as this process runs. */
  get lastUse(): ReadonlyMap<string, number> {
    return this.#lastUse;
  }

  /** Whether access is controlled. False: everybody may do everything. */
  get demands(): boolean {
    return this.#ports.isStrict || this.#ports.access() !== null;
  }

  /** Whether all callers are refused because the first access document has not come yet. */
  get isPending(): boolean {
    return this.#ports.isStrict && this.#ports.access() === null;
  }

  /** Sets the credential of all further calls on a connection. */
  show(caller: Caller, credential: Credential): void {
    this.#credentials.set(caller, credential);
  }

  /** Names a caller for logs: by its token, if that is valid, and where it comes from. */
  nameOf(caller: Caller): string {
    const credential = this.#credentials.get(caller) ?? noOne;
    const name = this.#grantedTo(credential)?.id ?? this.#certified(credential)?.name;
    return name === undefined ? credential.from : `${name} at ${credential.from}`;
  }

  /**
   * Throws TOKEN_MISSING, TOKEN_REFUSED, ACCESS_PENDING, PERMISSION_MISSING, OPERATOR_ELSEWHERE.
   */
  requireOf<Request>(caller: Caller, needs: NeedsOf<Request>, request: Request): void {
    if (!this.demands) return; // first, since every message passes here
    const credential = this.#credentials.get(caller) ?? noOne;
    this.require(credential, typeof needs === 'function' ? needs(request) : needs);
  }

  /** Throws what requireOf throws. */
  require(credential: Credential, needs: readonly Need[]): void {
    if (!this.demands) return;
    for (const need of needs) {
      if (this.#allows(credential, need)) continue;
      const error = withoutStack(() => this.#refusal(credential, need));
      const token = typeof credential.token === 'object' ? credential.token?.id : undefined;
      const { from } = credential;
      this.#ports.onRefusal({
        from,
        token: token ?? null,
        code: error.code,
        needs: needText(need),
      });
      throw error;
    }
  }

  /** Whether a caller has the permission: for answers that tell others less. */
  allows(caller: Caller, need: Need): boolean {
    return !this.demands || this.#allows(this.#credentials.get(caller) ?? noOne, need);
  }

  /** The same for the credential of a single request. */
  allowsTo(credential: Credential, need: Need): boolean {
    return !this.demands || this.#allows(credential, need);
  }

  /**
   * Whether a token or a certificate of the caller grants all of these. Being a device of a ring
   * does not count, nor does a server that demands nothing.
   */
  isGranted(caller: Caller, needs: readonly Need[]): boolean {
    const credential = this.#credentials.get(caller) ?? noOne;
    return needs.every((need) => this.#grants(credential, false, need));
  }

  #allows(credential: Credential, need: Need): boolean {
    if (credential.isPeer() && permits(peerGrants, need)) return true;
    return this.#grants(credential, isAct(need) && !this.#isAtOperatorPort(credential), need);
  }

  #grants(credential: Credential, isOperatorIgnored: boolean, need: Need): boolean {
    if (need.kind === 'nothing') return true;
    const applicable = (grants: readonly Grant[]): readonly Grant[] =>
      isOperatorIgnored ? grants.filter(({ role }) => role !== 'operator') : grants;
    const certified = this.#certified(credential);
    if (certified !== null && this.#isInForce(certified)) {
      if (permits(applicable(certified.grants), need)) return true;
    }
    const granted = this.#grantedTo(credential);
    return permits(granted === null ? null : applicable(granted.grants), need);
  }

  /** Whether the request came in at the address for operators. */
  #isAtOperatorPort({ socket }: Credential): boolean {
    return (
      this.#operatorPort === null || socket === null || this.#operatorPort === socket.localPort
    );
  }

  #certified({ socket }: Credential): Certified | null {
    return socket === null ? null : this.#ports.certified(socket);
  }

  #isInForce({ startsMs, endsMs }: Certified): boolean {
    const nowMs = this.#ports.nowMs();
    return startsMs <= nowMs && nowMs < endsMs;
  }

  #grantedTo(credential: Credential): GrantedToken | null {
    const access = this.#ports.access();
    const found = this.#lookups.get(credential);
    const lookup = found?.access === access ? found : this.#lookUp(credential, access);
    const nowMs = this.#ports.nowMs();
    if (lookup.token === null || hasExpired(lookup.token, nowMs)) return null;
    this.#lastUse.set(lookup.token.id, nowMs);
    return lookup.token;
  }

  #lookUp(credential: Credential, access: Access | null): TokenLookup {
    const lookup = { access, token: this.#find(credential, access) };
    this.#lookups.set(credential, lookup);
    // More tokens than one document can name, so most belong to earlier documents.
    if (this.#lastUse.size > accessTokensMax) this.#lastUse.clear();
    return lookup;
  }

  #find({ token }: Credential, access: Access | null): GrantedToken | null {
    if (access === null || token === null || token === 'unreadable') return null;
    return authenticate(access, token, this.#ports.nowMs());
  }

  #refusal(credential: Credential, need: Need): CodedError {
    const needs = needText(need);
    const { operatorListen: address } = this.#ports;
    if (this.#grants(credential, false, need)) {
      return new CodedError('OPERATOR_ELSEWHERE', `operator requests are served at ${address}`, {
        hint: 'ring-builder goes there by itself; send other requests to that address',
        details: { address },
      });
    }
    const certified = this.#certified(credential);
    if (credential.token === null && certified !== null && !credential.isPeer()) {
      return this.#certificateRefused(certified, needs);
    }
    if (credential.token === null && !credential.isPeer()) {
      const requirement = need.kind === 'token' ? needs : `a token with ${needs}`;
      return new CodedError('TOKEN_MISSING', `this needs ${requirement}`, {
        hint: 'ring-builder access grant creates one; send it as Authorization: Bearer ID.SECRET',
        details: { needs },
      });
    }
    const granted = this.#grantedTo(credential);
    if (granted === null && !credential.isPeer()) {
      return this.#ports.access() === null ? accessPending() : tokenRefused();
    }
    const caller = granted === null ? 'a peer' : `token ${granted.id}`;
    return new CodedError('PERMISSION_MISSING', `${caller} may not do this: it needs ${needs}`, {
      hint: 'ring-builder access list shows who may do what',
      details: { token: granted?.id ?? null, needs },
    });
  }

  #certificateRefused(certified: Certified, needs: string): CodedError {
    const { name, startsMs, endsMs } = certified;
    const details = { certificate: name, needs };
    const hint = 'ring-builder certs issue NAME --role ROLE makes one';
    if (!this.#isInForce(certified)) {
      const isEarly = this.#ports.nowMs() < startsMs;
      const end = isEarly ? 'is not valid before' : 'expired at';
      const time = new Date(isEarly ? startsMs : endsMs).toISOString();
      const message = `the certificate ${name} ${end} ${time}`;
      return new CodedError('TOKEN_REFUSED', message, { hint, details });
    }
    const message = `the certificate ${name} may not do this: it needs ${needs}`;
    return new CodedError('PERMISSION_MISSING', message, { hint, details });
  }
}

function accessPending(): CodedError {
  const message = 'this server has no access document yet, so it knows no tokens';
  return new CodedError('ACCESS_PENDING', message, {
    hint: 'its peers send it theirs, and ring-builder push sends it too',
  });
}
