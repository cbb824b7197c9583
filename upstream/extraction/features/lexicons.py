"""Words that stand beside identifiers, in English and Spanish: small dictionaries.

They are words of the languages, not names; lists of names are the custodian's own.
"""

from upstream.extraction.features.phrases import Dictionary, dictionary_of

_WORDS = {
    "kin": (
        "mother father parent parents brother brothers sister sisters sibling "
        "siblings son sons daughter daughters wife husband spouse partner "
        "grandmother grandfather grandson granddaughter grandparents aunt uncle "
        "niece nephew cousin cousins twin fiance fiancee girlfriend boyfriend "
        "stepmother stepfather relative relatives family maternal paternal "
        "madre padre padres hermano hermana hermanos hermanas hijo hija hijos "
        "hijas esposo esposa marido mujer cónyuge pareja abuelo abuela abuelos "
        "nieto nieta nietos tío tía tíos sobrino sobrina sobrinos primo prima "
        "primos gemelo gemela mellizo melliza novio novia suegro suegra cuñado "
        "cuñada familiar familiares familia materno materna paterno paterna "
        "progenitores"
    ),
    "street": (
        "street st avenue ave road rd boulevard blvd lane drive court place "
        "square suite apartment apt highway parkway terrace calle c/ c/. avda "
        "avda. av av. avenida plaza pza pza. pl. paseo pº p.º rambla raval "
        "carretera ctra ctra. crta camino travesía callejón glorieta ronda "
        "urbanización urb urb. polígono paraje barrio rúa carrer avinguda "
        "passeig plaça vía km s/n nº izq izq. dcha dcha. piso planta portal "
        "bloque esc. colonia col. delegación edificio"
    ),
    "organisation": (
        "university college institute department laboratory foundation "
        "association agency company inc corp corporation ltd universidad "
        "universitat facultad instituto institut fundación asociación sociedad "
        "departamento laboratorio laboratorios centro consejo colegio escuela "
        "academia ministerio consejería servicio unidad sección residencia s.a. "
        "s.l. sl sa clínica hospital hospitales complejo sanatorio policlínica "
        "ambulatorio consultorio infirmary clinic center centre hospice nursing"
    ),
    "title": (
        "mr mrs ms miss dr dr. md m.d. rn prof prof. doctor doctora dra dra. sr "
        "sr. sra sra. srta don doña d. dña dña. lic. enfermero enfermera nurse "
        "physician"
    ),
    "sex": (
        "male female man woman boy girl gentleman lady hombre mujer varón niño "
        "niña masculino femenino hembra lactante neonato"
    ),
    "month": (
        "january february march april may june july august september october "
        "november december enero febrero marzo abril mayo junio julio agosto "
        "septiembre setiembre octubre noviembre diciembre"
    ),
}
_OF_TWO_WORDS = {"sex": ("recién nacido", "recién nacida")}


def lexicons() -> tuple[Dictionary, ...]:
    """Return the dictionaries of words of the languages.

    >>> [each.name for each in lexicons()]
    ['kin', 'street', 'organisation', 'title', 'sex', 'month']
    """
    return tuple(
        dictionary_of(name, [*words.split(), *_OF_TWO_WORDS.get(name, ())])
        for name, words in _WORDS.items()
    )


LEXICONS = lexicons()
"""All of them."""
