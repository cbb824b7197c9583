"""Names and places that made-up people have: common ones, of nobody in particular."""

from dataclasses import dataclass


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(each.split()) for each in text.split(","))


_WOMEN = _listed(
    """Mary, Patricia, Jennifer, Linda, Elizabeth, Barbara, Susan, Jessica, Sarah,
    Karen, Lisa, Nancy, Betty, Sandra, Margaret, Ashley, Kimberly, Emily, Donna,
    Michelle, Carol, Amanda, Melissa, Deborah, Stephanie, Rebecca, Sharon, Laura,
    Cynthia, Dorothy, Amy, Kathleen, Angela, Shirley, Emma, Brenda, Pamela, Nicole,
    Anna, Samantha, Katherine, Christine, Helen, Debra, Rachel, Carolyn, Janet, Maria,
    Olivia, Heather, Catherine, Diane, Julie, Victoria, Joyce, Lauren, Kelly, Christina,
    Ruth, Joan, Virginia, Judith, Evelyn, Hannah, Andrea, Megan, Cheryl, Jacqueline,
    Madison, Teresa, Abigail, Sophia, Martha, Sara, Gloria, Janice, Kathryn, Ann,
    Isabella, Judy, Charlotte, Julia, Grace, Amber, Alice, Jean, Denise, Frances,
    Danielle, Marilyn, Natalie, Beverly, Diana, Brittany, Theresa, Kayla, Alexis, Doris,
    Lori, Tiffany, Rosa, Guadalupe, Mei, Priya, Fatima, Aisha, Yuki, Ingrid, Hope,
    Faith, Ivy, Rose, Pearl, April, June, Joy, Dawn, Penny, Nadia, Leticia, Svetlana"""
)
_MEN = _listed(
    """James, Robert, John, Michael, David, William, Richard, Joseph, Thomas,
    Christopher, Charles, Daniel, Matthew, Anthony, Mark, Donald, Steven, Andrew, Paul,
    Joshua, Kenneth, Kevin, Brian, Timothy, Ronald, George, Jason, Edward, Jeffrey,
    Ryan, Jacob, Nicholas, Gary, Eric, Jonathan, Stephen, Larry, Justin, Scott, Brandon,
    Benjamin, Samuel, Gregory, Alexander, Patrick, Frank, Raymond, Jack, Dennis, Jerry,
    Tyler, Aaron, Jose, Adam, Nathan, Henry, Zachary, Douglas, Peter, Kyle, Noah, Ethan,
    Jeremy, Christian, Walter, Keith, Austin, Roger, Terry, Sean, Gerald, Carl, Dylan,
    Harold, Jordan, Jesse, Bryan, Lawrence, Arthur, Gabriel, Bruce, Logan, Billy, Joe,
    Alan, Juan, Elijah, Willie, Albert, Wayne, Randy, Vincent, Mason, Roy, Ralph, Bobby,
    Russell, Bradley, Philip, Eugene, Luis, Carlos, Miguel, Wei, Raj, Ahmed, Omar,
    Hiroshi, Ivan, Lars, Will, Grant, Chase, Clay, Rich, Miles, Pierce, Rusty, Ernesto,
    Dmitri, Kwame"""
)
_SURNAMES = _listed(
    """Smith, Johnson, Williams, Brown, Jones, Garcia, Miller, Davis, Rodriguez,
    Martinez, Hernandez, Lopez, Gonzalez, Wilson, Anderson, Thomas, Taylor, Moore,
    Jackson, Martin, Lee, Perez, Thompson, White, Harris, Sanchez, Clark, Ramirez,
    Lewis, Robinson, Walker, Young, Allen, King, Wright, Scott, Torres, Nguyen, Hill,
    Flores, Green, Adams, Nelson, Baker, Hall, Rivera, Campbell, Mitchell, Carter,
    Roberts, Gomez, Phillips, Evans, Turner, Diaz, Parker, Cruz, Edwards, Collins,
    Reyes, Stewart, Morris, Morales, Murphy, Cook, Rogers, Gutierrez, Ortiz, Morgan,
    Cooper, Peterson, Bailey, Reed, Kelly, Howard, Ramos, Kim, Cox, Ward, Richardson,
    Watson, Brooks, Chavez, Wood, James, Bennett, Gray, Mendoza, Ruiz, Hughes, Price,
    Alvarez, Castillo, Sanders, Patel, Myers, Long, Ross, Foster, Jimenez, Powell,
    Jenkins, Perry, Russell, Sullivan, Bell, Coleman, Butler, Henderson, Barnes,
    Gonzales, Fisher, Vasquez, Simmons, Romero, Jordan, Patterson, Alexander, Hamilton,
    Graham, Reynolds, Griffin, Wallace, Moreno, West, Cole, Hayes, Bryant, Herrera,
    Gibson, Ellis, Tran, Medina, Aguilar, Stevens, Murray, Ford, Castro, Marshall,
    Owens, Harrison, Fernandez, McDonald, Woods, Washington, Kennedy, Wells, Vargas,
    Henry, Chen, Freeman, Webb, Tucker, Guzman, Burns, Crawford, Olson, Simpson, Porter,
    Hunter, Gordon, Mendez, Silva, Shaw, Snyder, Mason, Dixon, Munoz, Hunt, Hicks,
    Holmes, Palmer, Wagner, Black, Robertson, Boyd, Rose, Stone, Salazar, Fox, Warren,
    Mills, Meyer, Rice, Schmidt, Garza, Daniels, Ferguson, Nichols, Stephens, Soto,
    Weaver, Ryan, Gardner, Payne, Grant, Dunn, Kelley, Spencer, Hawkins, Arnold, Pierce,
    Hansen, Peters, Santos, Hart, Bradley, Knight, Elliott, Cunningham, Duncan, O'Brien,
    O'Connor, D'Angelo, De La Cruz, Van Dyke, St. John, Kowalski, Nakamura, Okafor,
    Singh, Kaur, Ali, Hassan, Cohen, Schwartz, Petrov, Yamamoto, Haddad, Osei,
    Lindqvist, Moreau, Rossi, Papadopoulos, Ng, Wu, Park, Day,
    Frost, Savage, Strong, Small, Law"""
)
_CITIES = _listed(
    """Springfield, Fairview, Riverside, Franklin, Greenville, Bristol, Clinton, Salem,
    Georgetown, Madison, Arlington, Ashland, Dover, Oxford, Jackson, Burlington,
    Manchester, Milton, Newport, Auburn, Centerville, Clayton, Dayton, Lexington,
    Milford, Mount Vernon, Oakland, Winchester, Cleveland, Hudson, Kingston, Riverton,
    Lakewood, Princeton, Cedar Falls, Bedford, Concord, Medford, Portsmouth, Norwood,
    Waverly, Glendale, Fulton, Brookfield, Hamilton, Plymouth, Stratford, Lancaster,
    Columbia, Richmond, Monroe, Troy, Easton, Sheridan, Marion, Pine Bluff, Red Oak,
    Rock Springs, Chester, Weston"""
)
_STREETS = _listed(
    """Maple, Oak, Cedar, Birch, Elm, Walnut, Chestnut, Willow, Spruce, Hickory, Main,
    Church, Mill, Park, Lake, River, Hill, Spring, Washington, Lincoln, Jefferson,
    Madison, Franklin, Jackson, Highland, Sunset, Prospect, Meadow, Orchard, Harbor,
    Division, Center, Canal, Depot, School, Mulberry, Sycamore, Magnolia, Juniper,
    Poplar"""
)
_HOSPITALS = _listed(
    """Mercy, St. Mary's, St. Luke's, Good Samaritan, Riverside, Lakeview, Providence,
    Holy Cross, Memorial, Sacred Heart, St. Anne's, Bethesda, Northside, Southgate,
    Grace, Trinity, Hillcrest, Parkview, Mount Carmel, St. Vincent's, Baptist,
    Methodist, Valley View, Westbrook, Eastern Shore, Pine Ridge, St. Elsewhere,
    Fairmont, Harborview, Ridgeline, Summit, Cedar Grove, Blue Ridge, Our Lady of Hope,
    King's Daughters, Deaconess"""
)
STATES = _listed(
    """AL, AZ, AR, CA, CO, CT, FL, GA, IL, IN, IA, KS, KY, LA, ME, MD, MA, MI, MN, MS,
    MO, MT, NE, NV, NH, NJ, NM, NY, NC, ND, OH, OK, OR, PA, RI, SC, SD, TN, TX, UT, VT,
    VA, WA, WV, WI, WY"""
)


@dataclass(frozen=True, slots=True)
class Lists:
    """What names and places are drawn from.

    Attributes:
        women: First names.
        men: First names.
        surnames: Last names.
        cities: Towns.
        streets: Without what kind of street it is.
        hospitals: Without the word hospital.
    """

    women: tuple[str, ...] = _WOMEN
    men: tuple[str, ...] = _MEN
    surnames: tuple[str, ...] = _SURNAMES
    cities: tuple[str, ...] = _CITIES
    streets: tuple[str, ...] = _STREETS
    hospitals: tuple[str, ...] = _HOSPITALS

    def part(self, number: int, parts: int) -> "Lists":
        """Return one of so many parts, which have no entry in common."""
        return Lists(
            self.women[number::parts],
            self.men[number::parts],
            self.surnames[number::parts],
            self.cities[number::parts],
            self.streets[number::parts],
            self.hospitals[number::parts],
        )
