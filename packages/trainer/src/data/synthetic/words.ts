/** Words that synthetic tools and requests are made of. Ours; names of places are facts. Long enough that a tool's name rarely comes twice. */
export const VERBS = [
  'arrange', 'assign', 'audit', 'collect', 'compare', 'dispatch', 'estimate', 'export', 'forecast', 'inspect', 'log', 'order', 'plan', 'prepare', 'quote', 'register', 'renew', 'report', 'reserve',
  'review', 'route', 'schedule', 'split', 'submit', 'track', 'update', 'verify',
] as const;

export const MODIFIERS = [
  'annual', 'batch', 'branch', 'client', 'clinic', 'coastal', 'corporate', 'field', 'fleet', 'garden', 'group', 'guest', 'harbour', 'hostel', 'lab', 'library', 'market', 'member', 'museum', 'night',
  'office', 'orchard', 'partner', 'pilot', 'plant', 'rental', 'school', 'site', 'stage', 'studio', 'summer', 'supplier', 'team', 'theatre', 'tenant', 'vendor', 'warehouse', 'workshop',
] as const;

export const NOUNS = [
  'appointment', 'badge', 'booking', 'catering', 'cleaning', 'consignment', 'course', 'crate', 'deposit', 'drill', 'exhibit', 'exercise', 'feedback', 'fitting', 'grant', 'handover', 'inspection',
  'intake', 'inventory', 'invoice', 'lease', 'lesson', 'maintenance', 'meal', 'measurement', 'parcel', 'permit', 'pickup', 'placement', 'printing', 'rehearsal', 'repair', 'roster', 'sample', 'seating',
  'shift', 'shipment', 'survey', 'tasting', 'ticket', 'tour', 'transfer', 'upgrade', 'visit', 'workout',
] as const;

/** City, state, its postal abbreviation. */
export const CITIES: readonly (readonly [string, string, string])[] = [
  ['Albany', 'New York', 'NY'], ['Anchorage', 'Alaska', 'AK'], ['Ann Arbor', 'Michigan', 'MI'], ['Asheville', 'North Carolina', 'NC'], ['Bangor', 'Maine', 'ME'], ['Baton Rouge', 'Louisiana', 'LA'],
  ['Bellingham', 'Washington', 'WA'], ['Bend', 'Oregon', 'OR'], ['Billings', 'Montana', 'MT'], ['Boise', 'Idaho', 'ID'], ['Boulder', 'Colorado', 'CO'], ['Burlington', 'Vermont', 'VT'],
  ['Charleston', 'South Carolina', 'SC'], ['Chattanooga', 'Tennessee', 'TN'], ['Cheyenne', 'Wyoming', 'WY'], ['Dayton', 'Ohio', 'OH'], ['Des Moines', 'Iowa', 'IA'], ['Duluth', 'Minnesota', 'MN'],
  ['El Paso', 'Texas', 'TX'], ['Fargo', 'North Dakota', 'ND'], ['Flagstaff', 'Arizona', 'AZ'], ['Fresno', 'California', 'CA'], ['Galveston', 'Texas', 'TX'], ['Gary', 'Indiana', 'IN'],
  ['Hartford', 'Connecticut', 'CT'], ['Hilo', 'Hawaii', 'HI'], ['Jackson', 'Mississippi', 'MS'], ['Lexington', 'Kentucky', 'KY'], ['Little Rock', 'Arkansas', 'AR'], ['Madison', 'Wisconsin', 'WI'],
  ['Mobile', 'Alabama', 'AL'], ['Nashua', 'New Hampshire', 'NH'], ['Omaha', 'Nebraska', 'NE'], ['Peoria', 'Illinois', 'IL'], ['Provo', 'Utah', 'UT'], ['Reno', 'Nevada', 'NV'], ['Roanoke', 'Virginia', 'VA'],
  ['Santa Fe', 'New Mexico', 'NM'], ['Savannah', 'Georgia', 'GA'], ['Scranton', 'Pennsylvania', 'PA'], ['Tallahassee', 'Florida', 'FL'], ['Topeka', 'Kansas', 'KS'], ['Trenton', 'New Jersey', 'NJ'],
  ['Tulsa', 'Oklahoma', 'OK'], ['Wheeling', 'West Virginia', 'WV'], ['Worcester', 'Massachusetts', 'MA'],
];

export const GIVEN_NAMES = [
  'Adaeze', 'Agnes', 'Amina', 'Anselm', 'Arjun', 'Astrid', 'Bao', 'Beatriz', 'Bruno', 'Chiara', 'Cosmin', 'Dalia', 'Edda', 'Emeka', 'Farid', 'Femke', 'Goran', 'Hana', 'Ines', 'Ismail', 'Jolanta',
  'Kaito', 'Kerstin', 'Lamia', 'Leandro', 'Maeve', 'Mirela', 'Nadia', 'Nuno', 'Odile', 'Oskar', 'Priya', 'Quentin', 'Ramona', 'Rohan', 'Saskia', 'Selim', 'Tamsin', 'Teodor', 'Ulrike', 'Viggo', 'Wanda', 'Yusra', 'Zoran',
] as const;

export const FAMILY_NAMES = [
  'Abara', 'Bergström', 'Castellani', 'Dvořák', 'Eze', 'Fairweather', 'Grünwald', 'Haddad', 'Ibarra', 'Jansen', 'Kowalska', 'Lindqvist', 'Moreau', 'Nakagawa', 'Okafor', 'Petrov', 'Quispe', 'Rahman',
  'Silvestri', 'Thackeray', 'Uchida', 'Varga', 'Whitlock', 'Yilmaz', 'Zielinski',
] as const;

export const THINGS = [
  'anvil', 'apron', 'basil', 'bolt', 'brush', 'candle', 'canvas', 'chisel', 'cone', 'drum', 'easel', 'filter', 'flask', 'funnel', 'gasket', 'glove', 'goggle', 'hinge', 'hose', 'kettle', 'ladle', 'lamp',
  'lantern', 'mug', 'nozzle', 'paddle', 'pipette', 'pulley', 'quilt', 'rope', 'sieve', 'spade', 'stapler', 'tarp', 'tripod', 'valve', 'vase', 'whisk', 'wrench', 'yoke',
] as const;

export const STREETS = ['Alder Lane', 'Birch Road', 'Chapel Street', 'Dock Street', 'Elm Row', 'Foundry Lane', 'Glebe Road', 'Hazel Close', 'Kiln Street', 'Mill Lane', 'Orchard Way', 'Quarry Road', 'Station Road', 'Tanner Street', 'Wharf Road'] as const;

export const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] as const;

/** Choices of an enumeration, with the words that ask for each. */
export const CHOICES: readonly { readonly name: string; readonly about: string; readonly values: readonly (readonly [string, string])[] }[] = [
  { name: 'priority', about: 'How urgent it is', values: [['low', 'with low priority'], ['normal', 'with normal priority'], ['high', 'with high priority'], ['urgent', 'as an urgent matter']] },
  { name: 'size', about: 'Size class', values: [['S', 'in a small size'], ['M', 'in a medium size'], ['L', 'in a large size'], ['XL', 'in an extra large size']] },
  { name: 'frequency', about: 'How often', values: [['once', 'only once'], ['daily', 'every day'], ['weekly', 'every week'], ['monthly', 'every month'], ['quarterly', 'every three months']] },
  { name: 'payment_method', about: 'How it is paid', values: [['credit_card', 'paid by credit card'], ['bank_transfer', 'paid by bank transfer'], ['cash', 'paid in cash'], ['voucher', 'paid with a voucher']] },
  { name: 'language', about: 'ISO 639-1 code of the language', values: [['de', 'in German'], ['fr', 'in French'], ['pt', 'in Portuguese'], ['sv', 'in Swedish'], ['ja', 'in Japanese']] },
  { name: 'channel', about: 'How to notify', values: [['email', 'with a notice by email'], ['sms', 'with a notice by text message'], ['post', 'with a notice by letter'], ['none', 'without any notice']] },
  { name: 'level', about: 'Level of difficulty', values: [['beginner', 'for beginners'], ['intermediate', 'at an intermediate level'], ['advanced', 'for advanced people']] },
  { name: 'unit', about: 'Unit of measurement', values: [['kg', 'counted in kilograms'], ['lb', 'counted in pounds'], ['m3', 'counted in cubic metres'], ['pallet', 'counted in pallets']] },
  { name: 'layout', about: 'How the room is set', values: [['u_shape', 'in a U shape'], ['classroom', 'in rows like a classroom'], ['round_tables', 'with round tables'], ['standing', 'without seats']] },
  { name: 'currency', about: 'ISO 4217 code of the currency', values: [['EUR', 'in euros'], ['CHF', 'in Swiss francs'], ['SEK', 'in Swedish kronor'], ['JPY', 'in yen'], ['USD', 'in US dollars']] },
];

export const FLAGS: readonly (readonly [name: string, about: string, yes: string, no: string])[] = [
  ['gift_wrap', 'Whether to wrap it', 'with gift wrapping', 'without gift wrapping'], ['refundable', 'Whether it can be cancelled', 'refundable', 'not refundable'],
  ['wheelchair_access', 'Whether step-free access is needed', 'with wheelchair access', 'no wheelchair access needed'], ['insured', 'Whether insurance is taken', 'insured', 'without insurance'],
  ['notify', 'Whether everybody is told', 'and tell everybody', 'and tell nobody'], ['public', 'Whether others may see it', 'visible to all', 'kept private'], ['overnight', 'Whether it goes on over night', 'over night', 'not over night'],
];

export const OPENINGS = ['Please', 'Can you', 'I need you to', 'Could you', 'Go ahead and', 'We have to', 'I want to', 'Kindly'] as const;
