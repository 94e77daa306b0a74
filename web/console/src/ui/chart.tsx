import { formatMs, formatNumber } from './format.ts';

export interface Bar {
  /** The beginning of the hour. */
  at: string;
  succeeded: number;
  failed: number;
  p50: number | null;
  p99: number | null;
}

const HOUR = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const WIDTH = 720;
const HEIGHT = 140;
const GAP = 3;

/** Calls by hour as stacked bars, with the same numbers in a table for screen readers. */
export function CallsChart({ bars }: { bars: readonly Bar[] }) {
  const highest = Math.max(1, ...bars.map(({ succeeded, failed }) => succeeded + failed));
  const width = WIDTH / Math.max(1, bars.length);
  const scale = (value: number) => (value / highest) * HEIGHT;
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 2}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2={WIDTH} y1={HEIGHT + 1} y2={HEIGHT + 1} className="axis" />
        {bars.map(({ at, succeeded, failed, p50, p99 }, index) => {
          const [good, bad] = [scale(succeeded), scale(failed)];
          const x = index * width + GAP / 2;
          const hour = HOUR.format(new Date(at));
          return (
            <g key={at}>
              <title>
                {`${hour}: ${formatNumber(succeeded)} succeeded, ${formatNumber(failed)} failed, p50 ${formatMs(p50)}, p99 ${formatMs(p99)}`}
              </title>
              <rect x={index * width} y={0} width={width} height={HEIGHT} className="hit" />
              <rect x={x} y={HEIGHT - good} width={width - GAP} height={good} className="good" />
              <rect x={x} y={HEIGHT - good - bad} width={width - GAP} height={bad} className="bad" />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{bars[0] && HOUR.format(new Date(bars[0].at))}</span>
        <span className="key">
          <i className="good" /> succeeded <i className="bad" /> failed
        </span>
        <span>now</span>
      </figcaption>
      <div className="visually-hidden">
        <table>
          <caption>Calls by hour</caption>
          <thead>
            <tr>
              <th scope="col">Hour</th>
              <th scope="col">Succeeded</th>
              <th scope="col">Failed</th>
              <th scope="col">Median duration</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ at, succeeded, failed, p50 }) => (
              <tr key={at}>
                <th scope="row">{HOUR.format(new Date(at))}</th>
                <td>{succeeded}</td>
                <td>{failed}</td>
                <td>{formatMs(p50)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
