/**
 * Every route of the console, and how it is reached. `places.test.ts` walks the folders of `app` and fails for a route that is in none
 * of these lists.
 */
import {
  Activity,
  Bell,
  Building2,
  ChartPie,
  Database,
  FlaskConical,
  FolderTree,
  Gauge,
  Handshake,
  HardDrive,
  KeyRound,
  LogIn,
  type LucideIcon,
  Network,
  RefreshCw,
  Scale,
  ScrollText,
  ShieldQuestion,
  SlidersHorizontal,
  TerminalSquare,
  Timer,
  UserCog,
  Users,
  Webhook,
} from 'lucide-react';
import { paths } from '../paths';

export type Place = {
  readonly href: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Other words by which users look for it. */
  readonly words?: string;
  /** Goes there when it is pressed after `g`. */
  readonly key?: string;
};

/** Pages in the menu beside each page. */
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

/** Tabs of the organization, in their order. */
export const ORGANIZATION_PLACES: readonly Place[] = [
  { href: paths.organization, label: 'Members', icon: Users, words: 'invitations invite users' },
  { href: paths.projects, label: 'Projects', icon: FolderTree },
  { href: paths.serviceAccounts, label: 'Service accounts', icon: UserCog, words: 'robots programs' },
  { href: paths.tokens, label: 'Tokens', icon: KeyRound, words: 'my account access keys' },
  { href: paths.sessions, label: 'Sessions', icon: Timer, words: 'my account browsers' },
  { href: paths.signInProvider, label: 'Sign-in', icon: LogIn, words: 'provider oidc sso' },
  { href: paths.quotas, label: 'Quotas', icon: Scale, words: 'limits' },
  { href: paths.grants, label: 'Grants', icon: Handshake, words: 'other organizations' },
  { href: paths.webhooks, label: 'Webhooks', icon: Webhook },
  {
    href: paths.permissions,
    label: 'What may I do',
    icon: ShieldQuestion,
    words: 'roles permissions my account',
  },
];

/** Those that are about the signed-in user, in the menu of the account. */
export const ACCOUNT_PLACES: readonly Place[] = ORGANIZATION_PLACES.filter(({ words }) =>
  words?.includes('my account'),
);

/** Pages without a link, which a user may look for. */
const FURTHER_PLACES: readonly Place[] = [
  { href: paths.device, label: 'Sign a program in', icon: TerminalSquare, words: 'device code cli login' },
];

/** All pages that are about no single thing. */
export const ALL_PLACES: readonly Place[] = [...PLACES, ...ORGANIZATION_PLACES, ...FURTHER_PLACES];

/** Pages about one thing, which the menu finds by its name. */
export const FOUND_BY_NAME = [
  '/volumes/[volumeId]',
  '/nodes/[nodeId]',
  '/nodes/[nodeId]/disks/[diskId]',
  '/organization/projects/[projectId]',
  '/organization/webhooks/[webhookId]',
] as const;

/** Pages of users who are not signed in, each with what leads there. */
export const BEFORE_SIGN_IN: Readonly<Record<string, string>> = {
  '/sign-in': 'any page, without a session',
  '/first-account': 'the one-time link that a new installation prints',
  '/invitation': 'the link of an invitation, whose secret is in it',
};
