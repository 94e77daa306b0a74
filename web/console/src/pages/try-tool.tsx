import { Link } from '@tanstack/react-router';
import type { Schemas } from '../api.ts';

export type Account = Schemas['ConnectedAccountDetails'];

/** A link to the read-only tools that the account can run. */
export function TryTool({ account }: { account: Account }) {
  return (
    <Link
      className="button primary"
      to="/tools"
      search={{ connector: account.provider, account: account.id, read_only: 'true' }}
    >
      Try a tool
    </Link>
  );
}
