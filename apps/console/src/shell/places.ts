import {
  Activity,
  Bell,
  Building2,
  ChartPie,
  Database,
  FlaskConical,
  Gauge,
  HardDrive,
  type LucideIcon,
  Network,
  RefreshCw,
  ScrollText,
  SlidersHorizontal,
} from 'lucide-react';
import { paths } from '../paths';

export type Place = {
  readonly href: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Goes there when it is pressed after `g`. */
  readonly key?: string;
};

/** Pages that one can go to from everywhere. */
export const PLACES: readonly Place[] = [
  { href: paths.overview, label: 'Overview', icon: Gauge, key: 'o' },
  { href: paths.volumes, label: 'Volumes', icon: Database, key: 'v' },
  { href: paths.nodes, label: 'Nodes and disks', icon: HardDrive, key: 'n' },
  { href: paths.topology, label: 'Topology', icon: Network, key: 't' },
  { href: paths.capacity, label: 'Capacity', icon: ChartPie, key: 'p' },
  { href: paths.rebuilds, label: 'Rebuilds', icon: RefreshCw, key: 'r' },
  { href: paths.alerts, label: 'Alerts', icon: Bell, key: 'a' },
  { href: paths.events, label: 'Events', icon: Activity, key: 'e' },
  { href: paths.whatIf, label: 'What if', icon: FlaskConical, key: 'w' },
  { href: paths.settings, label: 'Settings', icon: SlidersHorizontal, key: 's' },
  { href: paths.organization, label: 'Organization', icon: Building2, key: 'u' },
  { href: paths.audit, label: 'Audit', icon: ScrollText, key: 'l' },
];
