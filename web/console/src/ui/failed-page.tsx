import { Link } from '@tanstack/react-router';
import { Page, Trouble } from './parts.tsx';

interface FailedPageProps {
  title: string;
  error: unknown;
  /** The list that what was looked for would be in. */
  back: {
    to: '/' | '/accounts' | '/connections' | '/executions' | '/overlays' | '/tools' | '/webhooks';
    label: string;
  };
}

/** A page whose contents could not be loaded, with a way on. */
export function FailedPage({ title, error, back }: FailedPageProps) {
  return (
    <Page title={title}>
      <Trouble error={error} />
      <p>
        <Link to={back.to}>{back.label}</Link>
      </p>
    </Page>
  );
}
