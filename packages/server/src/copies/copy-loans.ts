// Rates of copies that rollouts lend this server. Each ends by itself unless its rollout says it
// again: one that was killed, or lost the line, throttles nobody for good. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { copyLoanMs, copyLoansMax } from '@ringwright/base/limits-copies';

export interface CopyLoan {
  /** Bytes per second and direction. */
  readonly rate: number;
  readonly endsMs: number;
  /** An operator set a rate meanwhile, which counts more: saying it again changes nothing. */
  readonly isOverruled: boolean;
}

/** By the name that its rollout made up for it. */
export type CopyLoans = ReadonlyMap<string, CopyLoan>;

/** `rate` null: that loan is over. Throws VALUE_OUT_OF_RANGE when too many others go on. */
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

/** The lowest that has not ended; null: there is none, and the server's own rate counts. */
export function loanInForce(loans: CopyLoans, nowMs: number): CopyLoan | null {
  const all = [...loans.values()].filter(
    ({ endsMs, isOverruled }) => endsMs > nowMs && !isOverruled,
  );
  return all.toSorted((a, b) => a.rate - b.rate)[0] ?? null;
}
