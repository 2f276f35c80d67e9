// Copy rates that rollouts lend to this server. Each loan ends by itself unless its rollout renews
// it, so a rollout that was killed or lost its connection throttles nothing for good. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { copyLoanMs, copyLoansMax } from '@ringwright/base/limits-copies';

export interface CopyLoan {
  /** Bytes per second, per direction. */
  readonly rate: number;
  readonly endsMs: number;
  /**
   * An operator has set a rate since, which takes precedence: renewing the loan does not change
   * that.
   */
  readonly isOverruled: boolean;
}

/** By the name that the rollout chose for its loan. */
export type CopyLoans = ReadonlyMap<string, CopyLoan>;

/**
 * Adds or renews a loan; `rate` null ends it. Throws VALUE_OUT_OF_RANGE if there are too many
 * others.
 */
export function withLoan(
  loans: CopyLoans,
  { loan, rate }: { readonly loan: string; readonly rate: number | null },
  nowMs: number,
): CopyLoans {
  const others = [...loans].filter(([name, { endsMs }]) => name !== loan && endsMs > nowMs);
  if (rate === null) return new Map(others);
  if (others.length >= copyLoansMax) {
    const message = `${others.length} rollouts lend a rate here, at most ${copyLoansMax} may`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message);
  }
  const isOverruled = loans.get(loan)?.isOverruled ?? false;
  return new Map([...others, [loan, { rate, endsMs: nowMs + copyLoanMs, isOverruled }]]);
}

export function overruled(loans: CopyLoans): CopyLoans {
  return new Map([...loans].map(([name, loan]) => [name, { ...loan, isOverruled: true }]));
}

/**
 * Returns the loan with the lowest rate that is in force; null: none is, so the server's own rate
 * counts.
 */
export function loanInForce(loans: CopyLoans, nowMs: number): CopyLoan | null {
  const all = [...loans.values()].filter(
    ({ endsMs, isOverruled }) => endsMs > nowMs && !isOverruled,
  );
  return all.toSorted((a, b) => a.rate - b.rate)[0] ?? null;
}
