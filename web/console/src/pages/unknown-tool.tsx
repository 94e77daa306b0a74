import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useFilters } from '../ui/filters.tsx';
import { Empty, Loading, Page } from '../ui/parts.tsx';
import { findOverlay } from './find-overlay.ts';

const BACK = { to: '/tools', label: 'All tools' } as const;

/** The page of a tool that agents do not see under this name: an overlay may have renamed or hidden it. */
export function UnknownTool({ name }: { name: string }) {
  const search = useFilters();
  const overlay = useQuery({
    queryKey: ['overlays', 'of tool', name],
    queryFn: () => findOverlay((row) => row.tool_name === name),
  });
  if (overlay.isPending) return <Loading />;
  const newName = overlay.data?.hidden ? undefined : overlay.data?.new_name;
  return (
    <Page title={name} back={BACK}>
      {overlay.data ? (
        <Empty
          title={newName ? `An overlay has renamed the tool to ${newName}` : 'An overlay hides this tool'}
          action={
            <div className="actions">
              {newName && (
                <Link className="button primary" to="/tools/$name" params={{ name: newName }} search={search}>
                  Open {newName}
                </Link>
              )}
              <Link className="button plain" to="/overlays/$name" params={{ name }}>
                Open the overlay
              </Link>
            </div>
          }
        >
          {newName ? 'Agents find and run it under its new name only.' : 'Agents neither find nor run it.'}
        </Empty>
      ) : (
        <Empty
          title="There is no tool with this name"
          action={
            <Link className="button primary" to="/tools" search={{ query: name }}>
              Search the tools
            </Link>
          }
        >
          It may have been deleted, or its connector is not set up in this environment.
        </Empty>
      )}
    </Page>
  );
}
