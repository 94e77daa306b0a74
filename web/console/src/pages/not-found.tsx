import { Link } from '@tanstack/react-router';
import { Empty, Page } from '../ui/parts.tsx';

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty
        title="The console has no page at this address"
        action={
          <Link className="button primary" to="/">
            Home
          </Link>
        }
      >
        Choose a page of the menu, or search with “Go to …”.
      </Empty>
    </Page>
  );
}
