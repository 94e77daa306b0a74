import { Link } from '@tanstack/react-router';
import { ApiProblem } from '../api.ts';
import { type Back, Empty, Page, Trouble } from './parts.tsx';

/** The statuses with which the API rejects a malformed id (400) or an unknown id (404). */
const WRONG_ADDRESS: readonly number[] = [400, 404];

/** A page whose contents could not be loaded, with a link to continue. */
export function FailedPage({ title, error, back }: { title: string; error: unknown; back: Back }) {
  const isWrongAddress = error instanceof ApiProblem && WRONG_ADDRESS.includes(error.status);
  return (
    <Page title={title} back={back}>
      {isWrongAddress ? (
        <Empty
          title="Nothing is at this address"
          action={
            <Link className="button primary" to={back.to}>
              {back.label}
            </Link>
          }
        >
          It may have been deleted, or the address is incomplete. What belongs to another environment is not shown here.
        </Empty>
      ) : (
        <Trouble error={error} />
      )}
    </Page>
  );
}
