"""Words that decide whether a name is meant: common ones, titles, and what follows.

They are words of English and Spanish, not lists of names.
"""

_COMMON = (
    "able ache acute adams age aid alba alto angel apple april arch arm arms art ash "
    "august autumn back bacon baker ball banks bar barber bark base bass bay beach "
    "bean bear beard bell berry best bill bird bishop black blanca blanco blind blood "
    "bloom blue boil bond bone bones book booth borrow bowl box brand bravo breath "
    "bridge bright brook brooks brother brown buck bull burn burns bush butcher "
    "butler cage calm calvo camp cane cannon cash cast castle cave chance chase "
    "cherry child church clay cliff close coffee cold coma constant cook cool corn "
    "cotton cough count cross crow cruz cura curry dale dark dawn day days dean dear "
    "delgado dial diamond dick dolores dose drew drink drop dry duke early ease east "
    "edge english even faith fall falls farmer fast feast field fine fish fisher fit "
    "flores flower flowers foot ford forest fort foster fox france frank freeman "
    "fresh frost fuente fuentes gallo garden gay gene gentle glass gold good gore "
    "grace grant grave graves gray green grey grove guerra gum hall ham hand hands "
    "hard hart hay hazel head heal heart heath hill hills holly holmes home hood hope "
    "horn house hunt hunter hurt iglesia iris ivy jack jasmine jewel john joy june "
    "justice keen key king knight lake lamb land lane large last law lawn leaf leal "
    "lee lily little llano long love low luna lung luz major manning march mark marks "
    "marsh mason may mayo mays mead meal medina mercy mesa mil miller mills mine mode "
    "montes moon moor moore moral morales more morning moss moya nail nation neck "
    "negro new nice nieves night noble north nurse oak oliva olive page pain paine "
    "palma palmer park parks parra pastor patience paz peace peak pearl penny pepper "
    "pick pierce pike pine piper pit plaza pole pool pope porter potter pound powers "
    "price pride prince prior pulse quick rain ramos ray read reader real reed rey "
    "reyes rice rich rico ring rio rivera rivers road rob rock rojo roman root rosa "
    "rosario rose rough rubio ruby rush rust rusty sack sage salas salt sand sands "
    "sano santos savage say seal self serrano sharp shepherd short shot sierra silva "
    "singer sky small smart smith snow sol soledad soto south spring stack star starr "
    "steel stern still stone storm street strong sue summer summers sun sweet swift "
    "tanner tapia taylor temple thomas tierra timber toe toro torres tracy trial true "
    "tucker turner vale vega veins vera victor viola violet walker wall walls ward "
    "waters weaver webb welch wells west wheeler white wild will wills winter winters "
    "wise wolf wood woods word worth wright young"
)
COMMON = frozenset(_COMMON.split())
"""Words of the languages, and of hospitals, that are names, too."""
_TITLES = (
    "apellido apellidos don dona master miss mr mrs ms mx name names nombre paciente "
    "patient pt re regarding sr sra srta surname"
)
TITLES = frozenset(_TITLES.split())
"""What stands before a patient's name."""
_DOCTORS = "doctor doctora dr dra drs md np nurse pa prof professor rn"
DOCTORS = frozenset(_DOCTORS.split())
"""What stands before the name of somebody who treats, or behind it."""
_OTHERS = (
    "ave avenue boulevard catheter center centre clamp classification clinic clinica "
    "college county court criteria disease drive fracture general health hospital "
    "hospitals infirmary institute lane lymphoma maneuver manoeuvre medical memorial "
    "palsy position procedure rd regional rehab road scale score sign solution st "
    "stain street syndrome test tube tumor university valve way"
)
OTHERS = frozenset(_OTHERS.split())
"""What stands behind a name that is a hospital's, a street's, or a disease's."""
_SAINTS = "saint san sankt santa santo"
SAINTS = frozenset(_SAINTS.split())
_PARTICLES = (
    "al bin da das de del den der di do dos du el i ibn la las le los san santa st "
    "ter van von y"
)
PARTICLES = frozenset(_PARTICLES.split())
"""Small words inside names, which are no name by themselves."""
STREETS = {
    "street": "st",
    "avenue": "ave",
    "av": "ave",
    "road": "rd",
    "drive": "dr",
    "lane": "ln",
    "court": "ct",
    "boulevard": "blvd",
    "place": "pl",
    "way": "wy",
    "apartment": "apt",
    "flat": "apt",
    "suite": "ste",
    "square": "sq",
    "calle": "c",
    "avenida": "ave",
    "avda": "ave",
    "plaza": "pza",
    "paseo": "po",
    "north": "n",
    "south": "s",
    "east": "e",
    "west": "w",
    "carretera": "ctra",
}
"""What words of addresses are read as."""
STREET_KINDS = frozenset(STREETS.values()) - {"c"}
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("january jan enero ene", "february feb febrero", "march mar marzo"),
            *("april apr abril abr", "may mayo", "june jun junio", "july jul julio"),
            *("august aug agosto ago", "september sept sep septiembre setiembre set"),
            *("october oct octubre", "november nov noviembre"),
            "december dec diciembre dic",
        ),
        1,
    )
    for name in names.split()
}
